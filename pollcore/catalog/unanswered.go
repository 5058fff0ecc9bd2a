package catalog

import (
	"regexp"
	"slices"
	"sync"
)

// Unanswered returns the lists of an answer that stand beside its items, and have what the call could not
// answer: ids of the request, or items with a reason. Where all is found, such a list is empty.
func (o *Operation) Unanswered() []string {
	if o.Output == nil || o.Input == nil {
		return nil
	}
	isList := func(m Member) bool { return m.Shape.Type == List }
	if !slices.ContainsFunc(o.Input.Members, isList) {
		return nil // it asks for one thing, whose own faults these are
	}
	beside := slices.ContainsFunc(o.Output.Members, func(m Member) bool {
		return (m.Shape.Type == List || m.Shape.Type == Map) && !unansweredMember().MatchString(m.Name)
	})
	var names []string
	for _, m := range o.Output.Members {
		if isList(m) && beside && unansweredMember().MatchString(m.Name) && (givesReason(m.Shape.Element.Shape) || o.takesList(m.Shape)) {
			names = append(names, m.Name)
		}
	}
	return names
}

// givesReason tells whether an item says why it has no answer.
func givesReason(item *Shape) bool {
	return item.Type == Structure && slices.ContainsFunc(item.Members, func(m Member) bool { return reasonMember().MatchString(m.Name) })
}

// takesList tells whether a request has a list of such items.
func (o *Operation) takesList(list *Shape) bool {
	return slices.ContainsFunc(o.Input.Members, func(m Member) bool {
		return m.Shape.Type == List && m.Shape.Element.Shape.Name == list.Element.Shape.Name
	})
}

var (
	unansweredMember = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)((failure|error)(s|list)|notfound)$|^(unprocessed|failed|invalid|missing|unsuccessful)`)
	})
	reasonMember = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^((error|failure|reason)(code|message|reason|detail)*|failurereason(code|message)|code|message)$`)
	})
)
