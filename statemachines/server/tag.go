package server

import (
	"slices"
	"strings"
)

// maxTags is how many tags a resource may have.
const maxTags = 50

type tag struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// tags are those of a resource, in the order in which their keys came.
type tags []tag

// newTags returns the tags that a new resource is given.
func newTags(arn string, given []tag) (tags, error) {
	return tags(nil).add(arn, given)
}

// add returns the tags with more of them; a tag whose key is there replaces the value.
func (t tags) add(arn string, more []tag) (tags, error) {
	added := slices.Clone(t)
	for _, m := range more {
		if strings.HasPrefix(strings.ToLower(m.Key), "aws:") {
			return nil, refuse(validation, "The tag key %q is reserved: keys must not start with \"aws:\".", m.Key)
		}
		if i := slices.IndexFunc(added, func(is tag) bool { return is.Key == m.Key }); i >= 0 {
			added[i].Value = m.Value
		} else {
			added = append(added, m)
		}
	}
	if len(added) > maxTags {
		return nil, refuse("TooManyTags", "'%s' would have %d tags; the maximum is %d.", arn, len(added), maxTags)
	}
	return added, nil
}

// tagsOf returns the tags of a state machine or an activity. Its caller holds a.mu.
func (a *account) tagsOf(text string) (*tags, error) {
	arn, err := parseARN(text, machineKind, activityKind)
	if err != nil {
		return nil, err
	}
	switch found := a.activities[arn.rest]; arn.kind {
	case activityKind:
		if found != nil && found.arn == text {
			return &found.tags, nil
		}
	default: // versions and aliases have no tags
		if m := a.machineOf(arn); m != nil {
			return &m.tags, nil
		}
	}
	return nil, refuse("ResourceNotFound", "Resource not found: '%s'", text)
}

type tagResourceInput struct {
	ResourceARN string `json:"resourceArn"`
	Tags        []tag  `json:"tags"`
}

func tagResource(r *request, in *tagResourceInput) (*empty, error) {
	r.account.mu.Lock()
	defer r.account.mu.Unlock()
	t, err := r.account.tagsOf(in.ResourceARN)
	if err != nil {
		return nil, err
	}
	more, err := t.add(in.ResourceARN, in.Tags)
	if err == nil {
		err = r.keep()
	}
	if err != nil {
		return nil, err
	}
	*t = more
	return &empty{}, nil
}

type untagResourceInput struct {
	ResourceARN string   `json:"resourceArn"`
	TagKeys     []string `json:"tagKeys"`
}

func untagResource(r *request, in *untagResourceInput) (*empty, error) {
	r.account.mu.Lock()
	defer r.account.mu.Unlock()
	t, err := r.account.tagsOf(in.ResourceARN)
	if err != nil {
		return nil, err
	}
	if err := r.keep(); err != nil {
		return nil, err
	}
	*t = slices.DeleteFunc(slices.Clone(*t), func(is tag) bool { return slices.Contains(in.TagKeys, is.Key) })
	return &empty{}, nil
}

type listTagsForResourceInput struct {
	ResourceARN string `json:"resourceArn"`
}

type listTagsForResourceOutput struct {
	Tags []tag `json:"tags"`
}

func listTagsForResource(r *request, in *listTagsForResourceInput) (*listTagsForResourceOutput, error) {
	r.account.mu.Lock()
	defer r.account.mu.Unlock()
	t, err := r.account.tagsOf(in.ResourceARN)
	if err != nil {
		return nil, err
	}
	return &listTagsForResourceOutput{append([]tag{}, *t...)}, nil
}
