package simulate

import (
	"bytes"
	"encoding/json"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim/mock"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// Plan is the answers of a machine's Tasks.
type Plan struct {
	// Jobs are the jobs that are simulated, for people: "athena StartQueryExecution".
	Jobs []string
	// Unknown are the Tasks whose answer nobody can know, in the order of the
	// definition.
	Unknown []Unknown
	// Endless are the Tasks that poll what ends by an error, as what is deleted does: they get
	// the same answer each time.
	Endless []string
	// Alike are the Tasks of loops that read what no waiter or job of the catalogue tells: they
	// get the same answer each time, too.
	Alike []string
	// Untimed are the Tasks of jobs that nothing starts or polls, and which a Spec gives a time: their
	// answers are those about a job that has ended.
	Untimed []string

	mocks []namedMock
}

// Unknown is a Task whose answer has to be told.
type Unknown struct {
	State, Resource string
	Position        asl.Position // of the resource
	What            string       // has to be told: "what the Lambda function returns"

	task   *task
	demand *typecheck.Demand
	bare   bool
	items  int  // of lists, at least
	number int  // of the draw
	within bool // a part of the answer of a simulated job
	means  func(state, word string) pollcore.Verdict
	job    *toldJob // whose statuses the answers tell; nil if nobody knows any
}

// namedMock is a member of a file of mocks.
type namedMock struct {
	name string
	body object
	open bool // it is of an Unknown
}

// JSON is the plan as a file of mocks, to be edited. The Tasks that have to be told
// stand there with a member "todo".
func (p *Plan) JSON() ([]byte, error) {
	return p.write(func(namedMock) bool { return true })
}

// Mocks returns the answers but for the Tasks that have to be told.
func (p *Plan) Mocks() (*mock.Config, error) {
	text, err := p.write(func(m namedMock) bool { return !m.open })
	if err != nil {
		return nil, err
	}
	return mock.Read(text)
}

func (p *Plan) write(wanted func(namedMock) bool) ([]byte, error) {
	var all object
	for _, m := range p.mocks {
		if wanted(m) {
			all = append(all, namedValue{m.name, m.body})
		}
	}
	text, err := json.Marshal(all)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, text, "", "  "); err != nil {
		return nil, err
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}
