package pollcore

import "time"

// Outcome is how a [Wait] ended, filled on every path: success by a response
// or by an error, failure, timeout, cancellation.
type Outcome[Out any] struct {
	// Output is what the last call returned, and OpErr its error. A call that
	// the end of the context cut short is not judged, and leaves all but
	// Attempts and Elapsed as they were.
	Output Out
	OpErr  error
	// Status is Succeeded, Failed or TimedOut, or Running if the wait was
	// canceled: then the job may still go on.
	Status  Status
	Verdict Verdict // of the last call, after the options of Wait
	// Acceptor is the index of the acceptor that matched last, or NoAcceptor.
	Acceptor int
	// Seen is the value that matched, Message what the acceptor's message
	// expression gave, Reason both in words: what was expected and seen.
	Seen    any
	Message string
	Reason  string
	// Attempts counts the calls, Elapsed is the time since Wait began.
	Attempts int
	Elapsed  time.Duration
	// Notes are the errors of paths that could not be evaluated in the last
	// call.
	Notes []error
}

// take keeps what a Check said of the last call.
func (o *Outcome[Out]) take(r Result) {
	o.Verdict, o.Acceptor, o.Seen, o.Message, o.Notes = r.Verdict, r.Acceptor, r.Seen, r.Message, r.Notes
}

// Attempt is one call of a wait under way, for an observer.
type Attempt struct {
	Number   int           // from 1
	Elapsed  time.Duration // since Wait began
	Total    time.Duration // that it may take
	Verdict  Verdict
	Acceptor int // index, or NoAcceptor
	Seen     any
	Reason   string
	Output   any   // of the call
	Err      error // of the call
	// Status is what the wait decided, and Delay the time before the next call
	// while it is Running.
	Status Status
	Delay  time.Duration
}
