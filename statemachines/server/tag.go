package server

// tag is a tag of a state machine or an activity.
type tag struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// maxTags is how many tags a resource may have.
const maxTags = 50

// checkTags returns the tags that a new resource is given.
func checkTags(given []tag) ([]tag, error) {
	if len(given) > maxTags {
		return nil, refuse("TooManyTags", "A resource can have %d tags", maxTags)
	}
	return given, nil
}
