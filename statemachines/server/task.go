package server

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/sim"
)

type sendTaskSuccessInput struct {
	TaskToken string `json:"taskToken"`
	Output    string `json:"output"`
}

func sendTaskSuccess(r *request, in *sendTaskSuccessInput) (*empty, error) {
	err := r.server.world.SendTaskSuccess(in.TaskToken, []byte(in.Output))
	if errors.Is(err, sim.ErrInvalidOutput) {
		return nil, refuse("InvalidOutput", "Invalid Output: '%s'", cmp.Or(findJSONMistake([]byte(in.Output)).message, "Invalid output."))
	}
	return explain(err)
}

type sendTaskFailureInput struct {
	TaskToken string `json:"taskToken"`
	Error     string `json:"error"`
	Cause     string `json:"cause"`
}

func sendTaskFailure(r *request, in *sendTaskFailureInput) (*empty, error) {
	return explain(r.server.world.SendTaskFailure(in.TaskToken, in.Error, in.Cause))
}

type sendTaskHeartbeatInput struct {
	TaskToken string `json:"taskToken"`
}

func sendTaskHeartbeat(r *request, in *sendTaskHeartbeatInput) (*empty, error) {
	return explain(r.server.world.SendTaskHeartbeat(in.TaskToken))
}

// explain returns what AWS says of an answer with a task token.
func explain(err error) (*empty, error) {
	switch {
	case err == nil:
		return &empty{}, nil
	case errors.Is(err, sim.ErrInvalidToken):
		return nil, refuse("InvalidToken", "Invalid Token: 'Invalid token'")
	case errors.Is(err, sim.ErrTaskTimedOut):
		return nil, refuse("TaskTimedOut", "Task Timed Out: 'Provided task does not exist anymore'")
	case errors.Is(err, sim.ErrTaskDoesNotExist):
		return nil, refuse("TaskDoesNotExist", "Task Does Not Exist: 'Provided task does not exist'")
	default:
		return nil, err
	}
}

type getActivityTaskInput struct {
	ActivityArn string `json:"activityArn"`
	WorkerName  string `json:"workerName"`
}

type getActivityTaskOutput struct {
	TaskToken string `json:"taskToken,omitempty"`
	Input     string `json:"input,omitempty"`
}

const (
	// longPoll is how long a worker waits for a task, in real time.
	longPoll = time.Minute
	// maxWorkers is how many workers may wait for tasks of an activity.
	maxWorkers = 1000
)

func getActivityTask(r *request, in *getActivityTaskInput) (*getActivityTaskOutput, error) {
	a := r.account
	a.mu.Lock()
	activity, err := a.activity(in.ActivityArn)
	if err == nil {
		if activity.workers >= maxWorkers {
			err = refuse("ActivityWorkerLimitExceeded", "Activity Worker Limit Exceeded: '%s' has %d workers that wait", in.ActivityArn, maxWorkers)
		} else {
			activity.workers++
		}
	}
	a.mu.Unlock()
	if err != nil {
		return nil, err
	}
	defer func() {
		a.mu.Lock()
		activity.workers--
		a.mu.Unlock()
	}()
	ctx, cancel := context.WithTimeout(r.ctx, longPoll)
	defer cancel()
	token, input, err := r.server.world.ActivityTask(ctx, in.ActivityArn, in.WorkerName)
	if err != nil {
		return nil, err
	}
	return &getActivityTaskOutput{token, string(input)}, nil
}

// hasActivity tells whether there is an activity, in any account.
func (s *Server) hasActivity(activityARN string) bool {
	parsed, err := parseARN(activityARN, activityKind)
	if err != nil {
		return false
	}
	a, err := s.accountOf(caller{parsed.account, parsed.region})
	if err != nil {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	_, err = a.activity(activityARN)
	return err == nil
}
