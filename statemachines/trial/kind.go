package trial

import (
	"fmt"
	"slices"
	"strings"
)

// Sort is a sort of answers.
type Sort string

// The sorts.
const (
	Status Sort = "status" // Value is what the member says, empty where it is missing
	Fails  Sort = "error"  // Value is the name of the error
	Never  Sort = "never"  // the job does not end; Value is the status that it keeps
	Bare   Sort = "bare"   // the answer has no more members than the model requires
	Silent Sort = "silent" // nothing comes back with the task token
	Items  Sort = "items"  // the answer lists two items; Value names them with their statuses
)

// Kind is a kind of answers of a Task. A frame is a list of them: what is empty in it stands
// for all.
type Kind struct {
	Task  string `json:"task,omitempty"`
	Sort  Sort   `json:"kind"`
	Value string `json:"value,omitempty"`
	// Pattern is the one of the machine that Value was made up to fit; empty for any other value.
	Pattern string `json:"pattern,omitempty"`
	// Beside is the value of another member of the answer, beside the status: "Jobs[0].StatusReason like
	// Host*". It is empty if nothing compares such a member. No frame has it, and so no JSON.
	Beside string `json:"-"`
}

func (k Kind) String() string {
	switch k.Sort {
	case Status:
		switch k.Value {
		case "":
			return fmt.Sprintf("no status of %q", k.Task)
		case UnknownValue:
			return fmt.Sprintf("any other status of %q", k.Task)
		}
		if k.Pattern != "" {
			return fmt.Sprintf("other statuses like %s of %q", k.Pattern, k.Task)
		}
		if k.Beside != "" {
			return fmt.Sprintf("status %s and %s of %q", k.Value, k.Beside, k.Task)
		}
		return fmt.Sprintf("status %s of %q", k.Value, k.Task)
	case Fails:
		return fmt.Sprintf("%s of %q", k.Value, k.Task)
	case Never:
		if k.Pattern != "" {
			return fmt.Sprintf("a job that stays in a status like %s at %q", k.Pattern, k.Task)
		}
		return fmt.Sprintf("a job that stays %s at %q", k.Value, k.Task)
	case Bare:
		return fmt.Sprintf("an answer without optional members of %q", k.Task)
	case Items:
		return fmt.Sprintf("%s of %q", k.Value, k.Task)
	case Silent:
		return fmt.Sprintf("no answer of %q", k.Task)
	default:
		return fmt.Sprintf("an answer of %q", k.Task)
	}
}

// staying is the kind of a job that keeps a status at a Task.
func (k Kind) staying(task string) Kind {
	k.Task, k.Sort = task, Never
	return k
}

// isIn tells whether the kind is one that a member of a frame stands for. A frame may have one
// of the members by which an answer is named, such as "Crawler.State STOPPING".
func (k Kind) isIn(f Kind) bool {
	return (f.Sort == "" || f.Sort == k.Sort) && (f.Task == "" || f.Task == k.Task) &&
		(f.Value == "" || f.Value == k.Value || slices.Contains(strings.Split(k.Value, ", "), f.Value))
}
