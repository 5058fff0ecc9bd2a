package soak

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Counts is what happened in a soak. It is safe for concurrent use.
type Counts struct {
	mu         sync.Mutex
	counts     map[string]int
	violations []string
}

// NewCounts returns counts of nothing.
func NewCounts() *Counts { return &Counts{counts: map[string]int{}} }

// Add counts something that happened, such as "fault: commit, then reset".
func (c *Counts) Add(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts[what]++
}

// Of returns how often something happened.
func (c *Counts) Of(what string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.counts[what]
}

// Violations lists what must not happen and did.
func (c *Counts) Violations() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.violations)
}

// String is the counts in the order of their names, and the violations.
func (c *Counts) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var b strings.Builder
	for _, what := range slices.Sorted(maps.Keys(c.counts)) {
		fmt.Fprintf(&b, "%8d  %s\n", c.counts[what], what)
	}
	fmt.Fprintf(&b, "%8d  violations\n", len(c.violations))
	for _, v := range c.violations {
		fmt.Fprintf(&b, "VIOLATION %s\n", v)
	}
	return b.String()
}

// Violate adds something that must not happen.
func (c *Counts) Violate(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.violations = append(c.violations, fmt.Sprintf(format, args...))
}
