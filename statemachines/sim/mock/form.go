package mock

import (
	"reflect"
	"strings"
)

// The forms are the objects of a file by their members, in the order in which messages list them.
// The readers refuse others, and the JSON Schema of mocks is made of them.
type (
	// stepForm is a step.
	stepForm struct {
		Return     any         `json:"return,omitempty"`
		Fail       failForm    `json:"fail,omitzero"`
		Throttle   yesForm     `json:"throttle,omitempty"`
		Never      yesForm     `json:"never,omitempty"`
		Times      countForm   `json:"times,omitempty"`
		After      secondsForm `json:"after,omitempty"`
		Submitted  any         `json:"submitted,omitempty"`
		Heartbeats secondsForm `json:"heartbeats,omitempty"`
		Echoes     echoesForm  `json:"echoes,omitempty"`
	}

	// jobEntryForm is a job instead of steps.
	jobEntryForm struct {
		Job jobForm `json:"job"`
	}

	jobForm struct {
		Runs              runsForm            `json:"runs"`
		Throttle          shareForm           `json:"throttle,omitempty"`
		Status            string              `json:"status,omitempty"`
		StartTime         string              `json:"startTime,omitempty"`
		EndTime           string              `json:"endTime,omitempty"`
		EpochTimes        bool                `json:"epochTimes,omitempty"`
		Running           string              `json:"running"`
		Ends              string              `json:"ends"`
		Stopped           string              `json:"stopped,omitempty"`
		Raises            map[string]failForm `json:"raises,omitempty"`
		Echoes            echoesForm          `json:"echoes,omitempty"`
		StartEchoes       echoesForm          `json:"startEchoes,omitempty"`
		DescribeEchoes    echoesForm          `json:"describeEchoes,omitempty"`
		Fails             textsForm           `json:"fails,omitempty"`
		Part              string              `json:"part,omitempty"`
		Answer            answerForm          `json:"answer,omitempty"`
		Answers           map[string]any      `json:"answers,omitempty"`
		ID                string              `json:"id,omitempty"`
		IDArgument        string              `json:"idArgument,omitempty"`
		StopIDArgument    string              `json:"stopIdArgument,omitempty"`
		IDs               string              `json:"ids,omitempty"`
		StartAnswer       answerForm          `json:"startAnswer,omitempty"`
		StartID           string              `json:"startId,omitempty"`
		StartIDArgument   string              `json:"startIdArgument,omitempty"`
		StartNameArgument string              `json:"startNameArgument,omitempty"`
		Name              string              `json:"name,omitempty"`
		StopAnswer        answerForm          `json:"stopAnswer,omitempty"`
		Exists            bool                `json:"exists,omitempty"`
		Before            string              `json:"before,omitempty"`
		NotFound          string              `json:"notFound,omitempty"`
		Start             startsForm          `json:"start,omitempty"`
		Describe          textsForm           `json:"describe,omitempty"`
		Stop              textsForm           `json:"stop,omitempty"`
	}

	// courseForm is how one start of a job differs.
	courseForm struct {
		Runs    runsForm   `json:"runs"`
		Running string     `json:"running,omitempty"`
		Ends    string     `json:"ends,omitempty"`
		Answer  answerForm `json:"answer,omitempty"`
	}

	failForm struct {
		Error string `json:"error"`
		Cause string `json:"cause,omitempty"`
	}

	// awsForm is a MockConfigFile.json.
	awsForm struct {
		StateMachines   map[string]awsMachineForm             `json:"StateMachines"`
		MockedResponses map[string]map[string]awsResponseForm `json:"MockedResponses,omitempty"`
	}

	awsMachineForm struct {
		TestCases map[string]map[string]string `json:"TestCases"`
	}

	awsResponseForm struct {
		Return any         `json:"Return,omitempty"`
		Throw  awsFailForm `json:"Throw,omitzero"`
	}

	awsFailForm struct {
		Error string `json:"Error"`
		Cause string `json:"Cause,omitempty"`
	}
)

// These values have a form of their own.
type (
	yesForm     bool              // true alone
	countForm   int               // a whole number from 1
	secondsForm float64           // from 0
	runsForm    any               // seconds, or the text of a Spread
	shareForm   string            // "5%"
	textsForm   any               // a text, or a list of texts
	startsForm  any               // these, or courses by their names
	answerForm  map[string]any    // the members of an answer
	echoesForm  map[string]string // paths by paths
)

// namesOf are the members that a form has.
func namesOf(form any) []string {
	of := reflect.TypeOf(form)
	names := make([]string, of.NumField())
	for i := range names {
		names[i], _, _ = strings.Cut(of.Field(i).Tag.Get("json"), ",")
	}
	return names
}
