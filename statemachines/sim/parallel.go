package sim

// runParallel does what a Parallel state does.
func (s *strand) runParallel() *failure {
	input, f := s.applyInputPath()
	if f != nil {
		return f
	}
	if input, f = s.applyParameters(data{input: input}); f != nil {
		return f
	}
	if s.probe != nil {
		return s.probe.mockParallel(s)
	}
	c := &composite{owner: s, concurrency: len(s.state.Parallel.Branches)}
	for i, flow := range s.state.Parallel.Branches {
		c.branches = append(c.branches, &branch{index: i, flow: flow, input: func() (*Payload, *failure) { return input, nil }})
	}
	s.record(ParallelStateStarted, Details{})
	return c.begin()
}
