package loopback

import (
	"crypto/rand"
	"crypto/subtle"
	"net/http"
	"strings"
)

// NewSecret draws 128 random bits, as text for a path or a key.
func NewSecret() string { return rand.Text() }

// RequirePath serves the handler below the secret path "/SECRET" and nowhere
// else. It is for clients that cannot sign: what they are told as the server's
// address carries the path.
func RequirePath(secret string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !HasPath(r, secret) {
			http.NotFound(w, r)
			return
		}
		http.StripPrefix("/"+secret, next).ServeHTTP(w, r)
	})
}

// HasPath tells whether a request is for the secret path "/SECRET", or below it.
func HasPath(r *http.Request, secret string) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	return IsSecret(first, secret)
}

// IsSecret compares in constant time.
func IsSecret(given, secret string) bool {
	return subtle.ConstantTimeCompare([]byte(given), []byte(secret)) == 1
}
