package catalog

import (
	"regexp"
	"sync"
)

// TellsFailure tells whether a member of an answer tells of a failure, by its name: ErrorMessage,
// FailureReasons. Before a failure, an answer may lack it.
func (m Member) TellsFailure() bool {
	holds := m.Shape.Type == String || m.Shape.Type == Structure || m.Shape.Type == List
	return holds && failureMember().MatchString(m.Name) && !reaction().MatchString(m.Name)
}

// TellsEnd tells whether a member of an answer is the time at which something ended, by its name: CompletedAt.
func (m Member) TellsEnd() bool { return m.Shape.Type == Timestamp && endMember().MatchString(m.Name) }

var (
	// failureMember matches the name of a member that tells of a failure. reaction excludes ActionOnFailure and MaxErrors.
	failureMember = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(\w*[a-z])?([Ff]ailure|[Ee]rror)(s|Reasons?|Messages?|Info(rmation)?|Details?|Causes?|Codes?|Descriptions?)?$`)
	})
	// reaction matches the name of a member that says what to do about a failure.
	reaction = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)on(failure|error)$|maxerrors$`) })
	// endMember matches the name of the time of an end, unlike ScheduleEndTime.
	endMember = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^(job|execution|run|task|actual)?(end(ed)?|complet(ed|ion)|finish(ed)?|stopped)(time|at|on|date|datetime|timestamp)$`)
	})
)
