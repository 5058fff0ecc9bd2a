package sim

import (
	"sync"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// machineData is what the executions of one state machine share. It is safe for
// concurrent use.
type machineData struct {
	mu           sync.Mutex
	apis         map[string]*typecheck.API // by resource
	integrations map[string]*integration   // by resource
	checked      [2]bool                   // as a Standard and as an Express workflow
	problems     [2]error
}

func newMachineData() *machineData {
	return &machineData{apis: map[string]*typecheck.API{}, integrations: map[string]*integration{}}
}

// ask asks the API of a Task, which is looked up once and serves one goroutine at a time.
func (m *machineData) ask(t *asl.Task, models typecheck.Models, question func(*typecheck.API)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	api := m.apis[t.Resource]
	if api == nil {
		found, err := typecheck.FindAPI(t.Resource, models)
		if err != nil {
			return err
		}
		api = &found
		m.apis[t.Resource] = api
	}
	question(api)
	return nil
}
