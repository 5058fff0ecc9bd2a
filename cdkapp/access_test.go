//go:build e2e

package cdkapp_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// access decides as IAM does by the policies of a template, and remembers what
// it was asked.
type access struct {
	roles map[string][]statement // by their logical IDs

	mu     sync.Mutex
	used   map[string]map[string]bool // actions by role
	denied []string
}

func newAccess(t *testing.T, a assembly) *access {
	t.Helper()
	all := &access{roles: map[string][]statement{}, used: map[string]map[string]bool{}}
	for _, role := range a.of("AWS::IAM::Role") {
		require.NotContains(t, role.properties, "Policies")
		require.NotContains(t, role.properties, "ManagedPolicyArns")
		all.used[role.id] = map[string]bool{}
		for _, s := range statementsOf(t, a.template, role.id) {
			require.Equal(t, "Allow", s.effect)
			for i, resource := range s.resources {
				s.resources[i] = a.physical(t, resource)
			}
			if s.conditions != nil {
				require.Subset(t, []string{"StringLike", "StringEquals"}, slices.Collect(maps.Keys(s.conditions.(map[string]any))), "an operator that the test does not know")
			}
			all.roles[role.id] = append(all.roles[role.id], s)
		}
	}
	return all
}

// allows decides whether a role may do what it asks for. The keys are those of
// conditions.
func (a *access) allows(role, action, resource string, keys map[string]string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, s := range a.roles[role] {
		if matchesAny(s.actions, action) && matchesAny(s.resources, resource) && s.met(keys) {
			a.used[role][action] = true
			return true
		}
	}
	a.denied = append(a.denied, fmt.Sprintf("%s: %s on %s", role, action, resource))
	return false
}

// met tells whether the conditions hold.
func (s statement) met(keys map[string]string) bool {
	all, _ := s.conditions.(map[string]any)
	for _, condition := range all { // of StringLike, or StringEquals without an asterisk
		for key, patterns := range condition.(map[string]any) {
			if value, ok := keys[key]; !ok || !matchesAny(oneOrMore(patterns), value) {
				return false
			}
		}
	}
	return true
}

// unused are the actions of a role that nothing has asked for, sorted.
func (a *access) unused(role string) []string {
	rest := map[string]bool{}
	for _, s := range a.roles[role] {
		for _, action := range s.actions {
			if !a.used[role][action] {
				rest[action] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(rest))
}

func matchesAny(patterns []string, text string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		expression := strings.NewReplacer(`\*`, `.*`, `\?`, `.`).Replace(regexp.QuoteMeta(pattern))
		return regexp.MustCompile("^" + expression + "$").MatchString(text)
	})
}

// credential is what a signature begins with: the access key, which is the role
// here.
var credential = regexp.MustCompile(`Credential=(\w+)/`)

func roleOf(r *http.Request) string {
	if found := credential.FindStringSubmatch(r.Header.Get("Authorization")); found != nil {
		return found[1]
	}
	return ""
}

// s3 is S3 for who is allowed it. It does not tell who may not list the bucket
// that there is no such object.
func (a *access) s3(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		bucket, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		arn := "arn:aws:s3:::" + bucket
		var actions []string
		switch {
		case key != "" && (r.Method == http.MethodGet || r.Method == http.MethodHead):
			actions = []string{"s3:GetObject"}
		case key != "" && r.Method == http.MethodPut && r.Header.Get("If-Match") != "": // by the user guide's "Conditional writes"
			actions = []string{"s3:PutObject", "s3:GetObject"}
		case key != "" && r.Method == http.MethodPut:
			actions = []string{"s3:PutObject"}
		default:
			actions = []string{"an action of S3 that the test does not know: " + r.Method + " " + r.URL.String()}
		}
		for _, action := range actions {
			if !a.allows(roleOf(r), action, arn+"/"+key, nil) {
				denyS3(w)
				return
			}
		}
		answer := httptest.NewRecorder()
		next.ServeHTTP(answer, r)
		if answer.Code == http.StatusNotFound && !a.allows(roleOf(r), "s3:ListBucket", arn, map[string]string{"s3:prefix": key}) {
			denyS3(w)
			return
		}
		maps.Copy(w.Header(), answer.Header())
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes()) // a client that is gone is no concern of S3
	})
}

func denyS3(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(http.StatusForbidden)
	fmt.Fprint(w, "<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>")
}
