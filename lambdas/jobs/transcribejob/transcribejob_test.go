package transcribejob_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/transcribe"
	"github.com/aws/aws-sdk-go-v2/service/transcribe/types"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/jobstest"
	"github.com/jobpoller/jobpoller/lambdas/jobs/transcribejob"
	"github.com/jobpoller/jobpoller/pollcore"
)

const arguments = `{
	"Media": {"MediaFileUri": "s3://media/call.wav"}, "LanguageCode": "en-US", "MediaSampleRateHertz": 8000,
	"OutputBucketName": "transcripts", "Settings": {"ShowSpeakerLabels": true, "MaxSpeakerLabels": 2}
}`

// service is Transcribe. Its error for an unknown job is the argument.
func service(unknown jobstest.Refusal) func(*testing.T) jobstest.Service {
	return func(*testing.T) jobstest.Service {
		j := jobstest.NewJobs("QUEUED")
		return jobstest.JSONService{Jobs: j, Version: "1.1", Target: "Transcribe", Operations: map[string]func(map[string]any) (any, error){
			"StartTranscriptionJob": func(in map[string]any) (any, error) {
				job, err := j.Create(in["TranscriptionJobName"].(string), in, jobstest.Refusal{Code: "ConflictException", Message: "The requested job name already exists."})
				return answer(job), err
			},
			"GetTranscriptionJob": func(in map[string]any) (any, error) {
				job, ok := j.ByKey(in["TranscriptionJobName"].(string))
				if !ok {
					return nil, unknown
				}
				return answer(job), nil
			},
		}}
	}
}

func answer(job jobstest.Job) map[string]any {
	description := map[string]any{
		"TranscriptionJobName": job.Key, "TranscriptionJobStatus": job.Status, "Media": job.Parameters["Media"],
		"CreationTime": 1795000000.5, "LanguageCode": job.Parameters["LanguageCode"],
	}
	switch job.Status {
	case "FAILED":
		description["FailureReason"] = "Unsupported media format"
	case "COMPLETED":
		description["Transcript"] = map[string]any{"TranscriptFileUri": "https://s3/transcripts/call.json"}
	}
	return map[string]any{"TranscriptionJob": description}
}

func TestDriver(t *testing.T) {
	t.Parallel()
	for name, unknown := range map[string]jobstest.Refusal{
		"as the service answers": {
			Code: "BadRequestException", Message: "The requested job couldn't be found. Check the job name and try your request again.",
		},
		"as the reference says": {Code: "NotFoundException", Message: "not found"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			jobstest.Run(t, jobstest.Case{
				Maker: transcribejob.FromEnvironment, Service: service(unknown), Arguments: arguments,
				Required: []string{"Media"}, Reserved: []string{"TranscriptionJobName"},
				Bad: []jobstest.BadArguments{
					{Name: "unknown member inside", Arguments: `{"Media": {"MediaFileURI": "s3://media/call.wav"}}`, Want: `did you mean "MediaFileUri"`},
				},
				Output: transcribe.GetTranscriptionJobOutput{}, Timestamps: []string{"TranscriptionJob.CreationTime"},
				Statuses: jobstest.Statuses{Running: []string{"QUEUED", "IN_PROGRESS"}, Success: []string{"COMPLETED"}, Failure: []string{"FAILED"}},
				Enum:     jobstest.Values(types.TranscriptionJobStatus("").Values()), Reason: "Unsupported media format",
			})
		})
	}
}

// client answers each operation in one way, and keeps what it was asked.
type client struct {
	started  *transcribe.StartTranscriptionJobInput
	startErr error
	getErr   error
}

func (c *client) StartTranscriptionJob(
	_ context.Context, in *transcribe.StartTranscriptionJobInput, _ ...func(*transcribe.Options),
) (*transcribe.StartTranscriptionJobOutput, error) {
	c.started = in
	return &transcribe.StartTranscriptionJobOutput{}, c.startErr
}

func (c *client) GetTranscriptionJob(
	context.Context, *transcribe.GetTranscriptionJobInput, ...func(*transcribe.Options),
) (*transcribe.GetTranscriptionJobOutput, error) {
	return &transcribe.GetTranscriptionJobOutput{}, c.getErr
}

func TestStartSendsTheArguments(t *testing.T) {
	t.Parallel()
	c := &client{}
	ref, err := transcribejob.New(c).Start(t.Context(), jobs.Request{Token: "token-1", Arguments: json.RawMessage(arguments)})
	require.NoError(t, err)
	require.Equal(t, jobs.Ref{"TranscriptionJobName": "token-1"}, ref)
	require.Equal(t, &transcribe.StartTranscriptionJobInput{
		TranscriptionJobName: aws.String("token-1"), Media: &types.Media{MediaFileUri: aws.String("s3://media/call.wav")},
		LanguageCode: types.LanguageCodeEnUs, MediaSampleRateHertz: aws.Int32(8000), OutputBucketName: aws.String("transcripts"),
		Settings: &types.Settings{ShowSpeakerLabels: aws.Bool(true), MaxSpeakerLabels: aws.Int32(2)},
	}, c.started)
}

// Other requests that Transcribe finds bad say nothing of the job.
func TestFindTellsBadRequestsApart(t *testing.T) {
	t.Parallel()
	bad := &types.BadRequestException{Message: aws.String("The job name that you specified isn't valid.")}
	_, found, err := transcribejob.New(&client{getErr: bad}).Find(t.Context(), jobs.Request{Token: "token-1"})
	require.Same(t, bad, err)
	require.False(t, found)
}

// The waiter agrees with the one that the SDK ships on every status.
func TestWaiterIsTheServices(t *testing.T) {
	t.Parallel()
	check, err := pollcore.Compile[jobs.Ref, *transcribe.GetTranscriptionJobOutput](transcribejob.New(nil).Waiter(), pollcore.Strict())
	require.NoError(t, err)
	require.Equal(t, 10, transcribejob.New(nil).Waiter().MinDelay)
	require.Equal(t, 120, transcribejob.New(nil).Waiter().MaxDelay)
	var shipped func(context.Context, *transcribe.GetTranscriptionJobInput, *transcribe.GetTranscriptionJobOutput, error) (bool, error)
	transcribe.NewTranscriptionJobCompletedWaiter(nil, func(o *transcribe.TranscriptionJobCompletedWaiterOptions) { shipped = o.Retryable })
	for _, status := range append(types.TranscriptionJobStatus("").Values(), "FROM_A_LATER_VERSION") {
		out := &transcribe.GetTranscriptionJobOutput{TranscriptionJob: &types.TranscriptionJob{TranscriptionJobStatus: status}}
		want := pollcore.Success
		if again, err := shipped(t.Context(), nil, out, nil); err != nil {
			want = pollcore.Failure
		} else if again {
			want = pollcore.Retry
		}
		require.Equal(t, want, check.Check(nil, out, nil).Verdict, "%s", status)
	}
}
