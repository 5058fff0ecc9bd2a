package history

import (
	"strings"
	"time"
)

// Event is an event of a history. The members besides the first four are those of
// its details, in AWS's words; most events have few of them.
type Event struct {
	ID, Previous int64
	Time         time.Time
	Type         string

	// Name is that of the state that is entered or left, or of the Map.
	Name                   string
	Input, Output          string // JSON text
	Parameters             string // JSON text, of TaskScheduled
	Resource, ResourceType string
	Region                 string
	Error, Cause           string
	Location               string
	// Index is that of a MapIteration event, and Length the number of items of
	// MapStateStarted; -1 for other events.
	Index, Length int
	// Assigned are the variables that the state assigned, as JSON text.
	Assigned map[string]string
}

// IsFailure tells whether something failed or timed out.
func (e *Event) IsFailure() bool {
	return strings.HasSuffix(e.Type, "Failed") || strings.HasSuffix(e.Type, "TimedOut")
}

// contradicts tells whether another event with the same ID is not the same event. A
// log may lack what the API tells of it.
func (e *Event) contradicts(other *Event) bool {
	for _, pair := range [][2]string{{e.Name, other.Name}, {e.Input, other.Input}, {e.Output, other.Output}, {e.Error, other.Error}, {e.Cause, other.Cause}} {
		if pair[0] != "" && pair[1] != "" && pair[0] != pair[1] {
			return true
		}
	}
	apart := e.Time.Sub(other.Time).Abs()
	return e.Type != other.Type || e.Previous != other.Previous || apart > time.Millisecond && !e.Time.IsZero() && !other.Time.IsZero()
}

// isEntry and isExit tell whether a state is entered or left.
func (e *Event) isEntry() bool { return strings.HasSuffix(e.Type, "StateEntered") }
func (e *Event) isExit() bool  { return strings.HasSuffix(e.Type, "StateExited") }

// isOfTask tells whether the event is one of a Task's call.
func (e *Event) isOfTask() bool {
	for _, prefix := range []string{"Task", "LambdaFunction", "Activity"} {
		if strings.HasPrefix(e.Type, prefix) && !strings.HasPrefix(e.Type, prefix+"State") {
			return true
		}
	}
	return false
}

// isOfContainer tells whether the event is one of a Map or a Parallel as a whole.
func (e *Event) isOfContainer() bool {
	return strings.HasPrefix(e.Type, "Map") || strings.HasPrefix(e.Type, "Parallel")
}
