package intrinsic

// maxWork is how many bytes of text, and values besides, the functions of one
// call may go through: 64 payloads of the largest size. A function goes through
// its arguments a few times at most.
const maxWork = 16 << 20

// work is what the functions of a call may still go through.
type work struct{ left int }

// spend takes the size of a value from the budget. It returns false if that
// is not enough.
func (w *work) spend(value any) bool {
	w.left--
	switch v := value.(type) {
	case string:
		w.left -= len(v)
	case []any:
		for _, item := range v {
			if !w.spend(item) {
				return false
			}
		}
	case map[string]any:
		for name, member := range v {
			if w.left -= len(name); !w.spend(member) {
				return false
			}
		}
	}
	return w.left >= 0
}
