package terraform

// The bounds of what is made of one module: a module can say much in few bytes.
const (
	maxSteps = 1_000_000
	maxBytes = 64 << 20
	// maxMachineSteps and maxMachineBytes bound one definition.
	maxMachineSteps = 200_000
	maxMachineBytes = 16 << 20
	// maxDepth bounds how deep expressions, locals and modules lead into each other.
	maxDepth = 200
	// maxVariants bounds how many texts the unknown conditions of a definition give.
	maxVariants = 16
	// maxMachines bounds the machines of a module.
	maxMachines = 2000
)

// budget is the work that a module may still take.
type budget struct {
	steps, bytes int
	whole        *budget // that of the module; nil if this is it
}

func newBudget() *budget { return &budget{steps: maxSteps, bytes: maxBytes} }

// machine is the budget of one definition.
func (b *budget) machine() *budget {
	return &budget{steps: maxMachineSteps, bytes: maxMachineBytes, whole: b}
}

// step counts a step of work, and tells whether there was one left.
func (b *budget) step() bool { return b.spend(1, 0) }

// take counts bytes of text.
func (b *budget) take(bytes int) bool { return b.spend(1, bytes) }

func (b *budget) spend(steps, bytes int) bool {
	if b == nil {
		return true
	}
	b.steps, b.bytes = b.steps-steps, b.bytes-bytes
	return b.whole.spend(steps, bytes) && !b.spent()
}

// spent tells whether nothing is left.
func (b *budget) spent() bool { return b.steps < 0 || b.bytes < 0 || b.whole != nil && b.whole.spent() }
