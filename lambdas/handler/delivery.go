package handler

import "encoding/json"

// delivery is a message that SQS delivers, or an event that EventBridge does.
type delivery struct {
	id   string // of the message; empty for an event
	body string
}

// readDeliveries reads the payload of Collect.
func readDeliveries(payload json.RawMessage) ([]delivery, error) {
	var in struct {
		Records []struct {
			MessageID string `json:"messageId"`
			Body      string `json:"body"`
		} `json:"Records"`
		DetailType string `json:"detail-type"`
	}
	err := json.Unmarshal(payload, &in)
	switch {
	case err == nil && in.DetailType != "":
		return []delivery{{body: string(payload)}}, nil
	case err != nil || in.Records == nil:
		return nil, fail(ErrorInvalidRequest, "expected a batch of messages of SQS or an event of EventBridge: invoke this function by the queue, or by a rule")
	}
	deliveries := make([]delivery, len(in.Records))
	for i, r := range in.Records {
		if r.MessageID == "" {
			return nil, fail(ErrorInvalidRequest, "record %d has no messageId: invoke this function by a queue of SQS", i+1)
		}
		deliveries[i] = delivery{r.MessageID, r.Body}
	}
	return deliveries, nil
}

// read reads the message of a wait, or an event.
func (d delivery) read() (wake *wakeUp, event map[string]any, err error) {
	var in struct {
		wakeUp

		DetailType json.RawMessage `json:"detail-type"`
	}
	if err := json.Unmarshal([]byte(d.body), &in); err != nil {
		return nil, nil, foreign()
	}
	if in.DetailType != nil {
		if err := json.Unmarshal([]byte(d.body), &event); err != nil {
			return nil, nil, foreign()
		}
		return nil, event, nil
	}
	if in.Number < 1 || in.Number > maxMessageNumber {
		return nil, nil, foreign()
	}
	if err := in.key().Validate(); err != nil {
		return nil, nil, invalid(err)
	}
	return &in.wakeUp, nil, nil
}

// foreign is the error of a message that no function of this module has sent.
func foreign() *Error {
	return fail(ErrorInvalidRequest, "the message is none of run-job or the collector, and no event of EventBridge: "+
		"remove it, and let nobody else send to the queue")
}
