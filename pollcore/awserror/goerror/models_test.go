package goerror_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/pollcore/awserror"
	"github.com/jobpoller/jobpoller/pollcore/awserror/goerror"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
)

// answer is an error as the AWS SDK returns it.
func answer(status int, err error) error {
	return &smithyhttp.ResponseError{Response: &smithyhttp.Response{Response: &http.Response{StatusCode: status}}, Err: err}
}

// declared returns the errors that the operations of a service declare.
func declared(service *catalog.Service) map[catalog.Error]bool {
	all := map[catalog.Error]bool{}
	for _, operation := range service.Operations {
		for _, e := range operation.Errors {
			all[e] = true
		}
	}
	return all
}

// modeled is an error of a model, and what its answer is like.
type modeled struct {
	catalog.Error

	service *catalog.Service
	status  int
}

// everyError returns the errors of all models, which are read once.
var everyError = sync.OnceValues(func() (all []modeled, err error) {
	services, err := models.List()
	for i := 0; err == nil && i < len(services); i++ {
		var service *catalog.Service
		if service, err = models.Load(services[i].Key); err != nil {
			break
		}
		for e := range declared(service) {
			all = append(all, modeled{e, service, statusOf(e)})
		}
	}
	return all, err
})

// statusOf returns the status of an error, and where the model has none that of the
// JSON protocols.
func statusOf(e catalog.Error) int {
	switch {
	case e.Status != 0:
		return e.Status
	case awserror.ClassifyAnswer(0, e.Shape) == awserror.Fault:
		return http.StatusInternalServerError
	default:
		return http.StatusBadRequest
	}
}

// name returns the name and the cause that Step Functions gives the error.
func (m modeled) name() (name, cause string) {
	name = javasdk.ServiceException(m.service.Name)
	if m.Shape != "" {
		name = javasdk.ExceptionName(m.service.Name, m.Shape)
	}
	cause = fmt.Sprintf("No (now). (Service: %s, Status Code: %d, Request ID: 1) (SDK Attempt Count: 1)", m.service.ErrorPrefix, m.status)
	return m.service.ErrorPrefix + "." + name, cause
}

// codes returns the codes that an answer may have for the error.
func (m modeled) codes() []string {
	return slices.DeleteFunc([]string{m.Shape, m.Code}, func(code string) bool { return code == "" })
}

// TestEveryErrorOfEveryModelMeansTheSameInEachForm reads each error as the SDK
// returns it, as an HTTP answer and as Step Functions names it.
func TestEveryErrorOfEveryModelMeansTheSameInEachForm(t *testing.T) {
	t.Parallel()
	all, err := everyError()
	require.NoError(t, err)
	require.Greater(t, len(all), 5000)
	for _, e := range all {
		class := awserror.ClassifyName(e.name())
		for _, code := range e.codes() {
			at := fmt.Sprintf("%s: %+v", e.service.Key, e.Error)
			require.Equal(t, class, awserror.ClassifyAnswer(e.status, code), at)
			require.Equal(t, class, awserror.ClassifyAnswer(e.status, "com.amazonaws#"+code+":http://internal.amazon.com/"), at)
			require.Equal(t, class, goerror.Classify(answer(e.status, &smithy.GenericAPIError{Code: code})), at)
			if byCode := awserror.ClassifyAnswer(0, code); byCode != awserror.Unknown && byCode != class {
				require.Equal(t, awserror.Throttled, class, "%s: only a 429 says more than its code", at)
			}
		}
	}
}

// The classes are those of the statuses that the models declare, but for the codes
// that pass whatever their status is.
func TestErrorsOfModelsHaveTheClassOfTheirStatus(t *testing.T) {
	t.Parallel()
	all, err := everyError()
	require.NoError(t, err)
	passing := map[string]bool{}
	for _, e := range all {
		class := awserror.ClassifyName(e.name())
		switch {
		case e.status == http.StatusTooManyRequests:
			require.Equal(t, awserror.Throttled, class, e.Error)
		case e.status >= 500 || e.status == http.StatusRequestTimeout:
			require.True(t, class.Passes(), e.Error)
		case class.Passes():
			for _, code := range e.codes() {
				passing[strings.TrimSuffix(code, "Exception")] = true
			}
		default:
			require.Equal(t, awserror.Refused, class, e.Error)
		}
	}
	require.Equal(t, passingCodes, slices.Sorted(maps.Keys(passing)))
}

// passingCodes are the codes that models declare with a status of the caller's
// errors, and that pass nevertheless: each new one is looked at once.
var passingCodes = []string{
	"CallbackTimeout", "ConnectorTimeout", "DependencyThrottle", "DependencyTimeout",
	"DependentServiceRequestThrottlingFault", "KMSThrottling", "KMSThrottlingFault", "KafkaTimeout",
	"KmsThrottled", "KmsThrottling", "LimitExceeded", "LimitExceededFault",
	"OperationTimeout", "PriorRequestNotComplete", "ProvisionedThroughputExceeded", "QueryTimeout",
	"RateLimitExceeded", "ReplicatedWriteConflict", "RequestLimitExceeded", "RequestThrottled",
	"ResourceProvisionedThroughputExceeded", "SlowDown", "StatementTimeout", "TaskTimedOut",
	"Throttled", "Throttling", "TooManyRequests", "TransactionConflict",
	"TransactionInProgress",
}
