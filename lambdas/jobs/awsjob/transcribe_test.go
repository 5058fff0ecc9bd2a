package awsjob_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/transcribe"
	"github.com/aws/aws-sdk-go-v2/service/transcribe/types"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/jobstest"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

const transcribeArguments = `{
	"Media": {"MediaFileUri": "s3://media/call.wav"}, "LanguageCode": "en-US", "MediaSampleRateHertz": 8000,
	"OutputBucketName": "transcripts", "Settings": {"ShowSpeakerLabels": true, "MaxSpeakerLabels": 2}
}`

// newTranscribe is Transcribe. Its error for an unknown job is the argument.
func newTranscribe(unknown jobstest.Refusal) func(*testing.T) jobstest.Service {
	return func(*testing.T) jobstest.Service {
		j := jobstest.NewJobs("QUEUED")
		return jobstest.JSONService{Jobs: j, Version: "1.1", Target: "Transcribe", Operations: map[string]func(map[string]any) (any, error){
			"StartTranscriptionJob": func(in map[string]any) (any, error) {
				job, err := j.Create(in["TranscriptionJobName"].(string), in, jobstest.Refusal{Code: "ConflictException", Message: "The requested job name already exists."})
				return transcription(job), err
			},
			"GetTranscriptionJob": func(in map[string]any) (any, error) {
				job, ok := j.ByKey(in["TranscriptionJobName"].(string))
				if !ok {
					return nil, unknown
				}
				return transcription(job), nil
			},
		}}
	}
}

func transcription(job jobstest.Job) map[string]any {
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

func TestConformanceTranscribe(t *testing.T) {
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
				Maker: catalogueMaker("transcribe:StartTranscriptionJob"), Service: newTranscribe(unknown), Arguments: transcribeArguments,
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

func TestTranscribeStartSendsTheArguments(t *testing.T) {
	t.Parallel()
	server := newScripted(t, answer{body: `{"TranscriptionJob": {"TranscriptionJobName": "token-1"}}`})
	ref, err := driverAt(t, "transcribe:StartTranscriptionJob", server).Start(t.Context(), jobs.Request{Token: "token-1", Arguments: json.RawMessage(transcribeArguments)})
	require.NoError(t, err)
	require.Equal(t, jobs.Ref{"TranscriptionJobName": "token-1"}, ref)
	require.JSONEq(t, strings.Replace(transcribeArguments, `"Media":`, `"TranscriptionJobName": "token-1", "Media":`, 1), server.take()[0].Body)
}

// Other requests that Transcribe finds bad say nothing of the job.
func TestTranscribeFindTellsBadRequestsApart(t *testing.T) {
	t.Parallel()
	server := newScripted(t, answer{status: http.StatusBadRequest, body: `{"__type": "BadRequestException", "Message": "The job name that you specified isn't valid."}`})
	finder, ok := driverAt(t, "transcribe:StartTranscriptionJob", server).(jobs.Finder)
	require.True(t, ok)
	_, found, err := finder.Find(t.Context(), jobs.Request{Token: "token-1", Arguments: json.RawMessage(transcribeArguments)})
	require.ErrorContains(t, err, "isn't valid")
	require.False(t, found)
}

// The waiter of a job agrees with the one that the SDK ships on every status.
func TestTranscribeWaiterIsTheServices(t *testing.T) {
	t.Parallel()
	entry, err := catalog.Lookup("transcribe", "StartTranscriptionJob")
	require.NoError(t, err)
	check, err := pollcore.Compile[jobs.Ref, *transcribe.GetTranscriptionJobOutput](entry.Waiter, pollcore.Strict())
	require.NoError(t, err)
	require.Equal(t, 10, entry.Waiter.MinDelay)
	require.Equal(t, 120, entry.Waiter.MaxDelay)
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
