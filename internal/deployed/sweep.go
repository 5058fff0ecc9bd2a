package deployed

import (
	"context"
	"errors"

	"github.com/jobpoller/jobpoller/internal/stepfunctions"
	"github.com/jobpoller/jobpoller/pollcore/awserror"
	"github.com/jobpoller/jobpoller/pollcore/awserror/goerror"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// Sweep reads the definitions of all state machines of an account in a region.
type Sweep struct {
	Client *stepfunctions.Client
	Region string
	Kept   *Kept // nil: nothing is kept
	// Progress is told how many state machines are read, and of how many; it may be nil.
	Progress func(read, of int)
}

// Swept counts the state machines that a sweep has listed.
type Swept struct {
	ARNs []string
	// Kept is how many definitions are those of the file.
	Kept int
	// Deleted is how many were deleted between the list and the reading.
	Deleted int
	// Unread are the state machines whose definitions AWS refuses.
	Unread []Unread
}

// Unread is a state machine that was not read.
type Unread struct {
	ARN string
	Err error
}

// Run calls found with each definition, in the order of the list. Its error is that of
// found, or of a call that says nothing of one state machine alone.
func (s *Sweep) Run(ctx context.Context, found func(*source.Deployed) error) (*Swept, error) {
	arns, err := s.Client.ListMachines(ctx, s.Region)
	if err != nil {
		return nil, err
	}
	out := &Swept{ARNs: arns}
	for i, arn := range arns {
		if s.Progress != nil {
			s.Progress(i, len(arns))
		}
		d, kept, err := s.read(ctx, arn)
		switch {
		case err == nil && d == nil:
			out.Deleted++
			continue
		case err == nil:
			if kept {
				out.Kept++
			}
			err = found(d)
		case isOfOne(err):
			out.Unread = append(out.Unread, Unread{arn, err})
			continue
		}
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// read reads the definition of a state machine: the one that is kept, else that at AWS.
// Nil is one that is deleted.
func (s *Sweep) read(ctx context.Context, arn string) (d *source.Deployed, kept bool, err error) {
	if d, err := s.Kept.find(arn); d != nil || err != nil {
		return d, d != nil, err
	}
	d, err = s.describe(ctx, arn)
	return d, false, err
}

// describe reads the definition at AWS, and keeps it.
func (s *Sweep) describe(ctx context.Context, arn string) (*source.Deployed, error) {
	m, err := s.Client.Describe(ctx, arn)
	switch {
	case codeOf(err) == "StateMachineDoesNotExist":
		return nil, nil //nolint:nilnil // Swept counts it
	case err != nil:
		return nil, nameKey(ctx, s.Client, arn, err)
	case m.Deleting:
		return nil, nil //nolint:nilnil // Swept counts it
	}
	d := newDeployed(m)
	if m.Key == "" { // what a customer's key encrypts is written nowhere else
		if err := s.Kept.add(&d); err != nil {
			return nil, err
		}
	}
	return &d, nil
}

// isOfOne tells whether an error says something of one state machine, and not of the
// service or of the caller: another one may be read.
func isOfOne(err error) bool {
	if _, ofKey := errors.AsType[*KeyError](err); ofKey {
		return true
	}
	code := codeOf(err)
	return code != "" && !awserror.IsCredentialsCode(code) && !goerror.Classify(err).Passes()
}
