package release

import (
	"sync/atomic"
	"text/template"
	"time"

	"github.com/Masterminds/sprig/v3"
)

// A clock stands in for the time of day in templates, so that what depends on it can be
// found out: it may be shifted, and says whether it was asked.
type clock struct {
	shift time.Duration
	asked atomic.Bool
}

// anotherTime is another year, month, day, weekday, hour, minute and second, whenever it is.
const anotherTime = (365+31+1)*24*time.Hour + 13*time.Hour + 7*time.Minute + 11*time.Second

func newClock(shift time.Duration) *clock { return &clock{shift: shift} }

func (c *clock) now() time.Time {
	c.asked.Store(true)
	return time.Now().Add(c.shift)
}

// functions are Sprig's functions that read the clock: now, and those that take the time
// of day for a value that is none. Given a time they do what they always do.
func (c *clock) functions() template.FuncMap {
	s := sprig.TxtFuncMap()
	inZone := s["dateInZone"].(func(string, any, string) string)
	date := func(format string, t any) string { return inZone(format, c.timeOf(t), "Local") }
	dateInZone := func(format string, t any, zone string) string { return inZone(format, c.timeOf(t), zone) }
	return template.FuncMap{
		"now":            c.now,
		"date":           date,
		"date_in_zone":   dateInZone,
		"dateInZone":     dateInZone,
		"htmlDate":       func(t any) string { return date("2006-01-02", t) },
		"htmlDateInZone": func(t any, zone string) string { return dateInZone("2006-01-02", t, zone) },
		"ago":            func(t any) string { return c.now().Sub(c.timeOf(t).(time.Time)).Round(time.Second).String() },
	}
}

// timeOf passes on what Sprig reads as a time, and puts the time of day for the rest.
func (c *clock) timeOf(t any) any {
	switch t := t.(type) {
	case time.Time:
		return t
	case *time.Time:
		return *t
	case int64:
		return time.Unix(t, 0)
	case int:
		return time.Unix(int64(t), 0)
	case int32:
		return time.Unix(int64(t), 0)
	}
	return c.now()
}
