package scale_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/awsjob"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// kind is a kind of job of AWS, as far as its answers and events go.
type kind struct {
	name string // as a request has it
	// quota is that of the describe call, and throttled the code of a call beyond it.
	quota     quota
	throttled string
	// lists: the reference and the answer have the id in a list.
	idMember string
	lists    bool
	// statuses are those of a job that runs, has succeeded, and has failed; told the two
	// last in events.
	statuses [3]string
	told     [2]string
	answer   func(id, status, endedAt string) map[string]any
	event    string // with %[1]s for the id and %[2]s for the status
	// sure: no event is ever lost.
	sure bool
}

// Of these Athena alone publishes how many describe calls it takes. The others have what
// is known of EC2.
var (
	athenaQuota = quota{perSecond: 100, most: 100}
	ec2Quota    = quota{perSecond: 20, most: 100}
)

func one(member string, element map[string]any) map[string]any {
	return map[string]any{member: []any{element}}
}

var kinds = map[string]kind{
	"athena:StartQueryExecution": {
		quota: athenaQuota, throttled: "TooManyRequestsException",
		idMember: "QueryExecutionId", statuses: [3]string{"RUNNING", "SUCCEEDED", "FAILED"}, told: [2]string{"SUCCEEDED", "FAILED"},
		answer: func(id, status, endedAt string) map[string]any {
			return map[string]any{"QueryExecution": map[string]any{
				"QueryExecutionId": id, "Status": withEnd(map[string]any{"State": status}, "CompletionDateTime", endedAt),
			}}
		},
		event: `{"source": "aws.athena", "detail-type": "Athena Query State Change", "detail": {"queryExecutionId": %[1]q, "currentState": %[2]q}}`,
	},
	"codebuild:StartBuild": {
		quota: ec2Quota, throttled: "ThrottlingException",
		idMember: "Ids", lists: true, statuses: [3]string{"IN_PROGRESS", "SUCCEEDED", "FAILED"}, told: [2]string{"SUCCEEDED", "FAILED"},
		answer: func(id, status, endedAt string) map[string]any {
			return one("Builds", withEnd(map[string]any{"Id": id, "BuildStatus": status}, "EndTime", endedAt))
		},
		event: `{"source": "aws.codebuild", "detail-type": "CodeBuild Build State Change",
			"detail": {"build-id": "arn:aws:codebuild:us-east-1:123456789012:build/%[1]s", "build-status": %[2]q}}`,
	},
	"batch:SubmitJob": {
		quota: ec2Quota, throttled: "TooManyRequestsException", sure: true,
		idMember: "Jobs", lists: true, statuses: [3]string{"RUNNING", "SUCCEEDED", "FAILED"}, told: [2]string{"SUCCEEDED", "FAILED"},
		answer: func(id, status, _ string) map[string]any {
			return one("Jobs", map[string]any{"JobId": id, "Status": status})
		},
		event: `{"source": "aws.batch", "detail-type": "Batch Job State Change", "detail": {"jobId": %[1]q, "status": %[2]q}}`,
	},
	"ec2:CreateSnapshot": {
		quota: ec2Quota, throttled: "RequestLimitExceeded",
		idMember: "SnapshotIds", lists: true, statuses: [3]string{"pending", "completed", "error"}, told: [2]string{"succeeded", "failed"},
		answer: func(id, status, endedAt string) map[string]any {
			return one("Snapshots", withEnd(map[string]any{"SnapshotId": id, "State": status}, "CompletionTime", endedAt))
		},
		event: `{"source": "aws.ec2", "detail-type": "EBS Snapshot Notification",
			"detail": {"event": "createSnapshot", "result": %[2]q, "snapshot_id": "arn:aws:ec2::us-east-1:snapshot/%[1]s"}}`,
	},
	trainingJob: {
		quota: ec2Quota, throttled: "ThrottlingException",
		idMember: "TrainingJobName", statuses: [3]string{"InProgress", "Completed", "Failed"}, told: [2]string{"Completed", "Failed"},
		answer: func(id, status, endedAt string) map[string]any {
			return withEnd(map[string]any{"TrainingJobName": id, "TrainingJobStatus": status}, "TrainingEndTime", endedAt)
		},
		event: `{"source": "aws.sagemaker", "detail-type": "SageMaker Training Job State Change",
			"detail": {"TrainingJobName": %[1]q, "TrainingJobStatus": %[2]q}}`,
	},
}

const trainingJob = "sagemaker:CreateTrainingJob"

// withEnd adds when the job ended to what an answer says of it.
func withEnd(of map[string]any, member, endedAt string) map[string]any {
	if endedAt != "" {
		of[member] = endedAt
	}
	return of
}

// job is a job, from before its start.
type job struct {
	number int
	of     *service
	token  string // of the Task that waits for it
	ends   pollcore.Status
	// seconds of the clock: its start and end, when answers have the end, and when its Task was answered.
	startsAt, endsAt, seenAt, answeredAt int64
}

// id is what the service calls the job.
func (j *job) id() string { return "job-" + strconv.Itoa(j.number) }

// answer is what a describe call says of the job.
func (j *job) answer(now int64) map[string]any {
	status, endedAt := j.of.statuses[0], ""
	if now >= j.seenAt {
		status, endedAt = j.of.statuses[1], epoch.Add(time.Duration(j.endsAt)*time.Second).Format(time.RFC3339)
		if j.ends == pollcore.Failed {
			status = j.of.statuses[2]
		}
	}
	return j.of.answer(j.id(), status, endedAt)
}

// event is what tells of its end.
func (j *job) event() string {
	status := j.of.told[0]
	if j.ends == pollcore.Failed {
		status = j.of.told[1]
	}
	return fmt.Sprintf(j.of.event, j.id(), status)
}

// signaling is what the drivers of these jobs are.
type signaling interface {
	jobs.Driver
	jobs.Announcer
	jobs.BatchDescriber
	jobs.EndTimer
	jobs.StopTeller
}

// service is a kind of job, and its driver: that of the catalogue, whose calls are answered
// here.
type service struct {
	signaling
	kind

	clock func() int64
	meter *meter
	jobs  []*job // of all services, by their numbers
}

func newService(name string, now func() int64, all []*job) (*service, error) {
	driver, err := awsjob.NewDriver(aws.Config{Region: "us-east-1"}, catalog.AWS(), name)
	if err != nil {
		return nil, err
	}
	s := &service{kind: kinds[name], clock: now, jobs: all}
	s.name = name
	s.meter = newMeter(s.quota)
	var ok bool
	if s.signaling, ok = driver.(signaling); !ok {
		return nil, fmt.Errorf("%s has no signals", name)
	}
	return s, nil
}

// argumentsOf returns the arguments of the start call, with those that a training job requires.
func argumentsOf(j *job) string {
	return fmt.Sprintf(`{"Number": %d, "TrainingJobName": %q, "RoleArn": "arn", "OutputDataConfig": {}}`, j.number, j.id())
}

// Start implements jobs.Driver.
func (s *service) Start(_ context.Context, r jobs.Request) (jobs.Ref, error) {
	var arguments struct {
		Number int `json:"Number"`
	}
	if err := json.Unmarshal(r.Arguments, &arguments); err != nil {
		return nil, err
	}
	id := s.jobs[arguments.Number].id()
	if s.lists {
		id = `["` + id + `"]`
	}
	return jobs.Ref{s.idMember: id}, nil
}

// Describe implements jobs.Driver.
func (s *service) Describe(_ context.Context, ref jobs.Ref) (any, error) {
	if err := s.call(); err != nil {
		return nil, err
	}
	j, err := s.find(ref)
	if err != nil {
		return nil, err
	}
	return j.answer(s.clock()), nil
}

// DescribeBatch implements jobs.BatchDescriber.
func (s *service) DescribeBatch(_ context.Context, refs []jobs.Ref) ([]any, error) {
	if err := s.call(); err != nil {
		return nil, err
	}
	outputs := make([]any, len(refs))
	for i, ref := range refs {
		j, err := s.find(ref)
		if err != nil {
			return nil, err
		}
		outputs[i] = j.answer(s.clock())
	}
	return outputs, nil
}

// find returns the job of a reference.
func (s *service) find(ref jobs.Ref) (*job, error) {
	number, err := strconv.Atoi(strings.TrimPrefix(strings.Trim(ref[s.idMember], `[]"`), "job-"))
	if err != nil {
		return nil, err
	}
	return s.jobs[number], nil
}

func (s *service) call() error {
	if s.meter.take(s.clock()) {
		return nil
	}
	return &smithy.GenericAPIError{Code: s.throttled, Message: "Rate exceeded", Fault: smithy.FaultClient}
}
