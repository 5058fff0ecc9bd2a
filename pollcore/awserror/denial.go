package awserror

import (
	"regexp"
	"strings"
	"sync"
)

// Denial is what a service says about why it denies a call to the caller.
type Denial struct {
	// Permission is what the caller lacks: an IAM action such as s3:PutObject, or a
	// permission of Lake Formation. It is empty if the service does not name it.
	Permission string
	// Policy is the kind of policy that decided, such as "a service control policy". It is
	// empty if the service does not say it, and if a grant to the caller is what is missing.
	Policy string
	// Explicit means that a policy denies the call, whatever others allow.
	Explicit bool
}

// ReadDenial reads the code and the message of a service's error. It reports false if
// the code is not one of IsPermissionCode.
//
// The permission comes from the message's beginning alone, where services quote nothing of
// the request.
func ReadDenial(code, message string) (Denial, bool) {
	if !IsPermissionCode(code) {
		return Denial{}, false
	}
	if found := lakeFormation().FindStringSubmatch(message); found != nil {
		return Denial{Permission: found[1], Policy: "Lake Formation"}, true
	}
	d := Denial{Explicit: strings.Contains(message, "with an explicit deny")}
	if found := unauthorized().FindStringSubmatch(message); found != nil {
		d.Permission = found[1]
	}
	for _, policy := range policies {
		if strings.Contains(message, "because no "+policy.name+" allows") && !policy.ofCaller ||
			strings.Contains(message, "explicit deny in "+policy.article+" "+policy.name) {
			d.Policy = policy.article + " " + policy.name
		}
	}
	return d, true
}

// Advice says what to do so that who, such as "the function's role", may make the call.
// The call needs the permission if the service does not name another. Who may be empty.
func (d Denial) Advice(who, needed string) string {
	if d.Permission != "" {
		needed = d.Permission
	}
	whom := needed
	if who != "" {
		whom = who + " " + needed
	}
	policy := d.Policy
	if policy == "" {
		policy = "a policy"
	}
	switch {
	case d.Explicit:
		return policy + " denies " + whom + ": change that policy, a grant does not help"
	case d.Policy != "":
		return policy + " must allow " + whom
	default:
		return "grant " + whom
	}
}

// policies are the kinds of policies in the words of AWS's errors. Source: the pages
// "Troubleshoot access denied error messages" of IAM and of S3. An identity-based policy is
// the caller's own: where none allows a call, a grant is missing.
var policies = []struct {
	article, name string
	ofCaller      bool
}{
	{"an", "identity-based policy", true},
	{"a", "resource-based policy", false},
	{"a", "permissions boundary", false},
	{"a", "session policy", false},
	{"a", "service control policy", false},
	{"a", "resource control policy", false},
	{"a", "VPC endpoint policy", false},
}

// unauthorized is how a message begins that names an IAM action. Some services have a
// sentence before it.
var unauthorized = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:[A-Z][A-Za-z ]+[.:] )?(?:You are|User: \S+ is) not authorized to perform: ([a-z0-9-]+:[A-Za-z0-9*]+)(?:[ .]|$)`)
})

// lakeFormation is how a message begins that names a permission of Lake Formation.
var lakeFormation = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^Insufficient Lake Formation permission\(s\): Required ([A-Z][a-z]+(?: [A-Z][a-z]+)*) on `)
})
