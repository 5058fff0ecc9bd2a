package server

import (
	"cmp"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"sort"
	"time"

	"github.com/jobpoller/jobpoller/internal/ordered"
)

// defaultPage is how many items a page has where the request does not say.
const defaultPage = 100

// tokenLife is how long the token of a next page is good for.
const tokenLife = 24 * time.Hour

// sealer signs the tokens of next pages, so that only those come back that went out.
type sealer struct{ key [32]byte }

func newSealer() *sealer {
	s := &sealer{}
	_, _ = rand.Read(s.key[:]) // it never fails
	return s
}

// sealed is what a token holds: behind which item the next page begins, and of which
// list.
type sealed struct {
	After string `json:"a"`
	Until int64  `json:"u"`
	List  []byte `json:"l"`
}

func (s *sealer) sign(text []byte) []byte {
	mac := hmac.New(sha256.New, s.key[:])
	mac.Write(text)
	return mac.Sum(nil)
}

// list names a list in a token.
func (r *request) list(query string) []byte {
	sum := sha256.Sum256([]byte(r.operation + "\x00" + r.accountID + "\x00" + r.region + "\x00" + query))
	return sum[:16]
}

// sealToken returns the token of the page that begins behind an item. The query is what
// the request selects the list by.
func (r *request) sealToken(query, after string) (string, error) {
	text, err := json.Marshal(sealed{after, time.Now().Add(tokenLife).Unix(), r.list(query)})
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(append(r.server.sealer.sign(text), text...)), nil
}

// openToken returns the item behind which the page of a token begins.
func (r *request) openToken(query, token string) (after string, err error) {
	text, err := base64.RawURLEncoding.DecodeString(token)
	var t sealed
	if err != nil || len(text) < sha256.Size || !hmac.Equal(text[:sha256.Size], r.server.sealer.sign(text[sha256.Size:])) ||
		json.Unmarshal(text[sha256.Size:], &t) != nil ||
		!hmac.Equal(t.List, r.list(query)) || time.Now().Unix() > t.Until {
		return "", refuse("InvalidToken", "Invalid Token: 'Invalid token'")
	}
	return t.After, nil
}

// paginate cuts a page out of items, which are in the order of their keys.
func paginate[T any](r *request, query string, items []T, key func(T) string, maxResults int, token string) (page []T, next string, err error) {
	if maxResults == 0 {
		maxResults = defaultPage
	}
	if token != "" {
		after, err := r.openToken(query, token)
		if err != nil {
			return nil, "", err
		}
		items = items[sort.Search(len(items), func(i int) bool { return key(items[i]) > after }):]
	}
	if len(items) > maxResults {
		items = items[:maxResults]
		if next, err = r.sealToken(query, key(items[maxResults-1])); err != nil {
			return nil, "", err
		}
	}
	return items, next, nil
}

// paginateNames cuts a page out of names in order.
func (r *request) paginateNames(names *ordered.List[string], in *listInput) (page []string, next string, err error) {
	after := "" // no name is empty
	if in.NextToken != "" {
		if after, err = r.openToken("", in.NextToken); err != nil {
			return nil, "", err
		}
	}
	for name := range names.After(after) {
		if page = append(page, name); len(page) > cmp.Or(in.MaxResults, defaultPage) { // one more says that there is a next page
			break
		}
	}
	return paginate(r, "", page, func(name string) string { return name }, in.MaxResults, in.NextToken)
}
