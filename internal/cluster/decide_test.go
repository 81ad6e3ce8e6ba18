package cluster

import "testing"

// Times in these tests are seconds; the object is made at 100 and containers start at 200.
const (
	created = 100
	started = 200
)

func writes(list ...write) history {
	return history{created: created, touched: created, writes: list}
}

func content(at int64, keys ...string) write { return write{time: at, only: true, keys: keySet(keys)} }
func labelled(at int64, keys ...string) write {
	return write{time: at, only: false, keys: keySet(keys)}
}

func keySet(keys []string) map[string]bool {
	set := map[string]bool{}
	for _, k := range keys {
		set[k] = true
	}
	return set
}

func TestDecide(t *testing.T) {
	all := []string{"*"}
	one := []string{"A"}
	tests := []struct {
		name    string
		e       evidence
		want    State
		changed int64
		behind  bool
	}{
		// Nothing is recorded after the start.
		{"unstamped and unchanged", evidence{keys: all, history: writes(labelled(created, "A"))}, Current, 0, false},
		{"stamped and unchanged", evidence{keys: all, stamp: equal, history: writes(labelled(created, "A"))}, Current, 0, false},
		{"edited, then restarted, unstamped", evidence{keys: all, history: writes(labelled(created), content(190, "A"))}, Current, 0, false},
		{"edited, then restarted, stamped", evidence{keys: all, stamp: differs, history: writes(labelled(created), content(190, "A"))}, Drifted, 190, false},
		{"changed and restarted, policy's stamp is older", evidence{keys: all, version: differs, history: writes(labelled(190, "A"))}, Drifted, 190, false},
		{"checksum right, policy's stamp is older", evidence{keys: all, stamp: equal, version: differs, history: writes(labelled(190, "A"))}, Current, 0, false},

		// Something is.
		{"never stamped, content alone was written", evidence{keys: all, history: writes(labelled(created), content(300, "A"))}, Stale, 300, true},
		{"never stamped, labels may be all that was written", evidence{keys: all, history: writes(labelled(300, "A"))}, MaybeStale, 300, true},
		{"stamp differs after such a write", evidence{keys: all, stamp: differs, history: writes(labelled(300, "A"))}, Stale, 300, true},
		{"stamp settles such a write", evidence{keys: all, stamp: equal, history: writes(labelled(300, "A"))}, Current, 0, false},
		{"edited and reverted", evidence{keys: all, stamp: equal, history: writes(labelled(created), content(300, "A"))}, Stale, 300, true},
		{"stamp differs, content alone was written", evidence{keys: all, stamp: differs, history: writes(content(300, "A"))}, Stale, 300, true},
		{"content before and labels after the start", evidence{keys: all, history: writes(labelled(300, "A"), content(150, "B"))}, MaybeStale, 300, true},
		{"content after the start and labels later", evidence{keys: all, history: writes(labelled(400, "A"), content(300, "B"))}, Stale, 300, true},
		{"no managedFields, made after the start", evidence{keys: all, optional: true, history: history{created: 300, writes: []write{{time: 300}}}}, MaybeStale, 300, true},
		{"policy's stamp differs, perhaps labels alone", evidence{keys: all, version: differs, history: writes(labelled(300, "A"))}, MaybeStale, 300, true},
		{"policy's stamp is the live version", evidence{keys: all, version: equal, history: writes(labelled(300, "A"))}, Current, 0, false},
		{"policy's stamp is live, checksum is not", evidence{keys: all, version: equal, stamp: differs, history: writes(labelled(150, "A"))}, Drifted, 150, false},

		// Keys.
		{"another key was written", evidence{keys: one, history: writes(labelled(created, "A"), content(300, "B"))}, Current, 0, false},
		{"another key was written, all are consumed", evidence{keys: all, history: writes(labelled(created, "A"), content(300, "B"))}, Stale, 300, true},
		{"the consumed key was written", evidence{keys: one, history: writes(labelled(created, "B"), content(300, "A"))}, Stale, 300, true},
		{"the consumed key may have been removed", evidence{keys: one, history: writes(content(300, "B"))}, Stale, 300, true},
		{"one manager owns consumed and other keys", evidence{keys: one, history: writes(content(300, "A", "B"))}, Stale, 300, true},
		{"one manager owns both, stamp settles it", evidence{keys: one, stamp: equal, history: writes(content(300, "A", "B"))}, Current, 0, false},
		{"one manager owns both, stamp differs", evidence{keys: one, stamp: differs, history: writes(content(300, "A", "B"))}, Stale, 300, true},

		// The second of the start.
		{"made in the second of the start", evidence{keys: all, history: history{created: started, writes: []write{labelled(started, "A")}}}, Current, 0, false},
		{"optional, made in the second of the start", evidence{keys: all, optional: true, history: history{created: started, writes: []write{labelled(started, "A")}}}, MaybeStale, started, false},
		{"written in the second of the start", evidence{keys: all, history: writes(content(started, "A"))}, MaybeStale, started, false},
		{"written in the second of the start, stamp matches", evidence{keys: all, stamp: equal, history: writes(content(started, "A"))}, Current, 0, false},
		{"written in the second of the start, stamp differs", evidence{keys: all, stamp: differs, history: writes(content(started, "A"))}, MaybeStale, started, false},
		{"written in that second and after", evidence{keys: all, history: writes(labelled(started, "A"), content(201, "B"))}, Stale, 201, true},

		// What can't be known.
		{"keyed, no key, unchanged", evidence{keys: all, stamp: needsKey, history: writes(labelled(created, "A"))}, Unknown, created, false},
		{"keyed, no key, content written", evidence{keys: all, stamp: needsKey, history: writes(content(300, "A"))}, Unknown, 300, true},
		{"not allowed to read", evidence{keys: all, unread: true}, Unknown, 0, false},

		// Objects that are not there, and such that ask to be left alone.
		{"required and missing", evidence{keys: all}, Missing, 0, false},
		{"optional and missing", evidence{keys: all, optional: true}, Current, 0, false},
		{"optional and missing, stamped", evidence{keys: all, optional: true, stamp: differs}, Unknown, 0, false},
		{"optional and missing, stamped by the policy", evidence{keys: all, optional: true, version: differs}, Unknown, 0, false},
		{"hot-reloaded", evidence{keys: all, skip: true, stamp: differs, history: writes(content(300, "A"))}, Current, 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.e.start = started
			tt.e.exists = tt.e.history.writes != nil
			got := decide(tt.e)
			if got.state != tt.want || got.changed != tt.changed || got.behind != tt.behind {
				t.Errorf("decide = %s, changed %d, behind %v (%s); want %s, %d, %v",
					got.state, got.changed, got.behind, got.reason, tt.want, tt.changed, tt.behind)
			}
			if got.reason == "" {
				t.Error("no reason given")
			}
		})
	}
}

func TestOnlyStaleAndMissingCount(t *testing.T) {
	for _, s := range States {
		if got, want := s.Counts(false), s == Stale || s == Missing; got != want {
			t.Errorf("%s counts: %v, want %v", s, got, want)
		}
		if got, want := s.Counts(true), s == Stale || s == Missing || s == MaybeStale; got != want {
			t.Errorf("%s counts when strict: %v, want %v", s, got, want)
		}
	}
}
