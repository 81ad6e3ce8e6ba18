package cluster

// A State is what is known of one pod and one ConfigMap or Secret that it consumes.
type State string

// The states, worst first.
const (
	Stale      State = "stale"       // the content changed after the container started
	Missing    State = "missing"     // a required object does not exist
	MaybeStale State = "maybe-stale" // something changed after the start, perhaps not the content
	Unknown    State = "unknown"     // it can't be known
	Drifted    State = "drifted"     // current, but the stamp is not that of the live object
	Current    State = "current"     // the container has read what the object holds
)

// States lists the states, worst first.
var States = []State{Stale, Missing, MaybeStale, Unknown, Drifted, Current}

// Counts says whether the state makes the answer "yes, something is stale", exit code 1.
func (s State) Counts(strict bool) bool {
	return s == Stale || s == Missing || strict && s == MaybeStale
}

func (s State) rank() int {
	for i, t := range States {
		if s == t {
			return i
		}
	}
	return len(States)
}

// A comparison is what setting a pod's stamp beside the live object gave.
type comparison int

const (
	noStamp  comparison = iota // the pod has none, or the live value could not be read
	equal                      // the stamp is the live object's
	differs                    // it is not
	needsKey                   // not without the key: the stamp may be a keyed one
)

// evidence is all that a verdict on one pod and one object rests on.
type evidence struct {
	start    int64 // Unix seconds when the oldest container that consumes it started
	keys     []string
	optional bool

	unread  bool // the object could not be read
	exists  bool
	skip    bool // the object says helm-checksum/skip: it is read again when it changes
	history history

	stamp   comparison // the checksum
	version comparison // the policy's stamp, a resourceVersion
}

// A verdict is the state of one pod and one object, and why.
type verdict struct {
	state   State
	changed int64 // Unix seconds of the change that counts; 0 if there is none
	behind  bool  // the change is recorded after the start
	reason  string
}

// The reasons, for people.
const (
	whyUnread   = "not allowed to read it"
	whyMissing  = "required, does not exist"
	whyAbsent   = "optional, does not exist"
	whyGone     = "optional, gone since it was stamped"
	whySkip     = "hot-reloaded (helm-checksum/skip)"
	whyCurrent  = "unchanged since the start"
	whyVersion  = "the version of the policy's stamp"
	whySettled  = "written after the start, stamp matches"
	whyStamp    = "written after the start, stamp differs"
	whyContent  = "content written after the start"
	whyReverted = "content written after the start, though the stamp matches"
	whyMaybe    = "written after the start, perhaps only labels"
	whySecond   = "written in the second of the start"
	whyKey      = "the stamp may be a keyed one"
	whyDrifted  = "read after the last change, stamp differs"
	whyOldStamp = "read after the last change, the policy's stamp is older"
)

// decide says what is known of one pod and one object.
//
// Times have a resolution of one second on both sides. A write in the very second of
// the start is neither before nor after it: a stamp that matches says current, the
// object's creation must have come first, and all else is not certain.
func decide(e evidence) verdict {
	switch {
	case e.unread:
		return verdict{state: Unknown, reason: whyUnread}
	case !e.exists && !e.optional:
		return verdict{state: Missing, reason: whyMissing}
	case !e.exists && (e.stamp != noStamp || e.version != noStamp):
		return verdict{state: Unknown, reason: whyGone}
	case !e.exists:
		return verdict{state: Current, reason: whyAbsent}
	case e.skip:
		return verdict{state: Current, reason: whySkip}
	}

	var (
		newest   int64 // of all writes that matter
		after    int64 // of those after the start
		content  int64 // of those that own nothing but content
		consumed int64 // of those that own nothing but consumed content
		tie      bool  // one in the second of the start
	)
	for _, w := range e.history.relevant(e.keys) {
		newest = max(newest, w.time)
		switch {
		case w.time > e.start:
			after = max(after, w.time)
			if w.only {
				content = max(content, w.time)
			}
			if w.within(e.keys) {
				consumed = max(consumed, w.time)
			}
		case w.time == e.start:
			// Without the object a container that requires it would not have started.
			tie = tie || e.optional || w.time != e.history.created
		}
	}
	if e.version == equal {
		// Nothing at all was written to the object since the pod template got its stamp.
		if e.stamp == differs {
			return verdict{state: Drifted, changed: newest, reason: whyDrifted}
		}
		return verdict{state: Current, reason: whyVersion}
	}

	v := verdict{changed: after, behind: after != 0}
	set := func(s State, reason string) verdict {
		v.state, v.reason = s, reason
		return v
	}
	switch {
	case e.stamp == needsKey:
		v.changed = newest
		return set(Unknown, whyKey)
	case after == 0 && tie && e.stamp != equal:
		v.changed = e.start
		return set(MaybeStale, whySecond)
	case after == 0 && e.stamp == differs:
		v.changed = newest
		return set(Drifted, whyDrifted)
	case after == 0 && e.stamp == noStamp && e.version == differs:
		v.changed = newest
		return set(Drifted, whyOldStamp)
	case after == 0:
		return set(Current, whyCurrent)
	case e.stamp == differs:
		return set(Stale, whyStamp)
	case e.stamp == equal && consumed != 0:
		v.changed = consumed
		return set(Stale, whyReverted)
	case e.stamp == equal:
		v.changed, v.behind = 0, false
		return set(Current, whySettled)
	case content != 0:
		v.changed = content
		return set(Stale, whyContent)
	}
	return set(MaybeStale, whyMaybe)
}
