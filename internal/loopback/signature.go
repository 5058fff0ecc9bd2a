package loopback

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Keys are credentials that a server takes. They are a secret of the run: never
// log them.
type Keys struct {
	AccessKeyID     string `json:"accessKeyId"`
	SecretAccessKey string `json:"secretAccessKey"`
}

// NewKeys draws the keys of a server.
func NewKeys() Keys {
	return Keys{AccessKeyID: "LOCAL" + NewSecret()[:15], SecretAccessKey: NewSecret() + NewSecret()[:14]}
}

// Service is what requests are signed for.
type Service string

// The services that are served here. AnyService is for requests that are sent on to a
// server of many.
const (
	S3            Service = "s3"
	Lambda        Service = "lambda"
	StepFunctions Service = "states"
	AnyService    Service = ""
)

// MaxBody is the largest body of a signed request in bytes. The server holds it
// in memory to compare it with its signed hash.
const MaxBody = 64 << 20

// BodyTimeout is how long a body may take to come.
const BodyTimeout = time.Minute

// Refusal is why a request is refused: AWS's name of the error, its HTTP status
// and a message that quotes nothing of the request's secrets.
type Refusal struct {
	Status  int
	Code    string
	Message string
}

const (
	algorithm     = "AWS4-HMAC-SHA256"
	dateForm      = "20060102T150405Z"
	maxSkew       = 15 * time.Minute
	headerDate    = "X-Amz-Date"
	headerPayload = "X-Amz-Content-Sha256"
	unsigned      = "UNSIGNED-PAYLOAD"
)

// Signed says whose signatures a server takes.
type Signed struct {
	Service Service
	Keys    []Keys
	// TakesID, if not nil, tells which other access key IDs go with each of the secrets.
	TakesID func(accessKeyID string) bool
	// Source says where the owner finds the keys, for messages; empty for those of a run.
	Source string
	// AnyTime takes signatures of any time: for a server whose clock jumps,
	// since clients of the SDK correct the time that they sign by the server's
	// Date.
	AnyTime bool
	// MaxBody is the largest body in bytes; 0: the constant.
	MaxBody int64
	// Unverified bounds the bodies that are read before it is known who sends them; nil
	// stands for a budget of these requests alone.
	Unverified *Budget
	// Refuse answers a request that is not let through.
	Refuse func(http.ResponseWriter, *http.Request, *Refusal)
}

// Require lets requests through that one of the keys has signed for the service by
// AWS Signature Version 4, in the Authorization header, within 15 minutes of this
// machine's clock: within them a request can be repeated, as at AWS. The body is as
// signed, or of a kind that only S3 and AnyService take: an unsigned one. Presigned
// URLs are refused, and so are payloads in chunks, but for AnyService, which sends
// them on.
//
// Whatever the headers tell is checked before the body is read, so a stranger's body is
// not. Most clients send its hash in no header: then the body has to come first, and
// takes part of the budget Unverified.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
func (s Signed) Require(next http.Handler) http.Handler {
	if s.Unverified == nil {
		s.Unverified = NewBudget()
	}
	s.MaxBody = cmp.Or(s.MaxBody, MaxBody)
	return LimitBody(s.MaxBody, BodyTimeout, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, refusal := s.verify(r)
		if refusal != nil {
			w.Header().Set("Connection", "close") // the body may not have been read
			s.Refuse(w, r, refusal)
			return
		}
		r.Body = body
		next.ServeHTTP(w, r)
	}))
}

// verify returns the body of a request whose signature is right.
func (s Signed) verify(r *http.Request) (io.ReadCloser, *Refusal) {
	if query := r.URL.Query(); query.Has("X-Amz-Signature") || query.Has("X-Amz-Algorithm") || query.Has("Signature") {
		return nil, &Refusal{http.StatusForbidden, "AccessDenied", "presigned URLs are not served here; sign the Authorization header"}
	}
	a, refusal := s.readAuthorization(r)
	if refusal != nil {
		return nil, refusal
	}
	if refusal := s.check(a, r); refusal != nil {
		return nil, refusal
	}
	given := r.Header.Get(headerPayload)
	chunked := strings.HasPrefix(given, "STREAMING-")
	switch {
	case chunked && s.Service != AnyService:
		return nil, &Refusal{http.StatusNotImplemented, "NotImplemented", "payloads in signed chunks are not served here; sign the whole payload"}
	case given == unsigned && s.Service != AnyService && s.Service != S3:
		return nil, &Refusal{http.StatusForbidden, "AccessDenied", "the payload is not signed: sign its hash"}
	case given == "":
		return s.verifyBody(a, r)
	case !s.matches(a, r, given):
		return nil, s.mismatch()
	case chunked || given == unsigned && s.Service == AnyService:
		return r.Body, nil
	}
	body, hash, refusal := s.readBody(r, nil)
	switch {
	case refusal != nil:
		return nil, refusal
	case given != unsigned && subtle.ConstantTimeCompare([]byte(given), []byte(hash)) != 1:
		return nil, &Refusal{http.StatusBadRequest, "XAmzContentSHA256Mismatch", "the body is not the one whose hash is signed in x-amz-content-sha256"}
	}
	return body, nil
}

// verifyBody returns the body of a request that has its hash in no header: the signature
// tells whether the body is right.
func (s Signed) verifyBody(a *authorization, r *http.Request) (io.ReadCloser, *Refusal) {
	if !slices.ContainsFunc(s.Keys, func(k Keys) bool { return s.takesID(k, a.accessKeyID) == 1 }) {
		return nil, s.mismatch()
	}
	held := s.Unverified.hold(r.Body)
	defer held.release()
	body, hash, refusal := s.readBody(r, held)
	switch {
	case refusal != nil:
		return nil, refusal
	case !s.matches(a, r, hash):
		return nil, s.mismatch()
	}
	return body, nil
}

// mismatch is the same for a wrong key ID as for a wrong signature: who guesses learns
// nothing.
func (s Signed) mismatch() *Refusal {
	return &Refusal{http.StatusForbidden, "SignatureDoesNotMatch", "the request is not signed with this server's keys: " + s.source()}
}

// source says where clients get the keys.
func (s Signed) source() string {
	return cmp.Or(s.Source, "each run draws its own and prints them with --data or -o json")
}

// bodyPiece is how much of a body is read at a time.
const bodyPiece = 64 << 10

// readBody reads a body, whose pieces count as held where that is not nil, and its hash.
func (s Signed) readBody(r *http.Request, held *heldBody) (body io.ReadCloser, hash string, refusal *Refusal) {
	if r.ContentLength > s.MaxBody {
		return nil, "", tooLarge(s.MaxBody)
	}
	if r.ContentLength == 0 || r.Body == nil {
		return http.NoBody, hexSHA256(nil), nil
	}
	var pieces net.Buffers
	var piece []byte
	sum := sha256.New()
	for left := r.ContentLength; ; {
		if len(piece) == cap(piece) {
			pieces = append(pieces, piece)
			size := int64(bodyPiece)
			if 0 <= left && left < size {
				size = left + 1 // in which the end is found
			}
			if held != nil && !held.grow(size) {
				return nil, "", busy()
			}
			piece = make([]byte, 0, size)
		}
		n, err := r.Body.Read(piece[len(piece):cap(piece)])
		sum.Write(piece[len(piece) : len(piece)+n])
		piece, left = piece[:len(piece)+n], left-int64(n)
		large, limited := errors.AsType[*http.MaxBytesError](err)
		switch {
		case err == nil:
			continue
		case errors.Is(err, io.EOF):
			pieces = append(pieces, piece)
			return io.NopCloser(&pieces), hex.EncodeToString(sum.Sum(nil)), nil
		case limited:
			return nil, "", tooLarge(large.Limit)
		case held != nil && held.isCut():
			return nil, "", busy()
		}
		return nil, "", &Refusal{http.StatusBadRequest, "IncompleteBody", "the request ended before its body was complete"}
	}
}

func busy() *Refusal {
	return &Refusal{http.StatusServiceUnavailable, "ServiceUnavailable", "too many bodies of requests come at once: send the request again"}
}

func tooLarge(most int64) *Refusal {
	return &Refusal{http.StatusBadRequest, "EntityTooLarge", fmt.Sprintf("expected a body of at most %d bytes", most)}
}

// authorization is what the Authorization header says.
type authorization struct {
	accessKeyID string
	day, region string
	service     string
	date        string
	headers     []string // signed ones
	signature   string
}

// readAuthorization reads "AWS4-HMAC-SHA256 Credential=KEY/DAY/REGION/SERVICE/
// aws4_request, SignedHeaders=a;b, Signature=HEX".
func (s Signed) readAuthorization(r *http.Request) (*authorization, *Refusal) {
	lines := r.Header.Values("Authorization")
	if len(lines) == 0 {
		return nil, &Refusal{http.StatusForbidden, "AccessDenied", "the request is not signed: sign it with this server's keys; " + s.source()}
	}
	malformed := &Refusal{
		http.StatusBadRequest, "AuthorizationHeaderMalformed",
		"expected Authorization: " + algorithm + " Credential=KEY/DATE/REGION/SERVICE/aws4_request, SignedHeaders=..., Signature=...",
	}
	text, ok := strings.CutPrefix(lines[0], algorithm+" ")
	if !ok || len(lines) > 1 {
		return nil, malformed
	}
	members := map[string]string{}
	for part := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		members[name] = value
	}
	scope := strings.Split(members["Credential"], "/")
	if len(scope) != 5 || scope[4] != "aws4_request" || members["SignedHeaders"] == "" || members["Signature"] == "" {
		return nil, malformed
	}
	return &authorization{
		accessKeyID: scope[0], day: scope[1], region: scope[2], service: scope[3],
		date: r.Header.Get(headerDate), headers: strings.Split(members["SignedHeaders"], ";"), signature: members["Signature"],
	}, nil
}

// check checks all that needs no key: the scope, the date, and that everything
// that can change the meaning of the request is signed.
func (s Signed) check(a *authorization, r *http.Request) *Refusal {
	malformed := func(format string, args ...any) *Refusal {
		return &Refusal{http.StatusBadRequest, "AuthorizationHeaderMalformed", fmt.Sprintf(format, args...)}
	}
	if s.Service != AnyService && a.service != string(s.Service) {
		return malformed("the request is signed for another service than %s", s.Service)
	}
	date, err := time.Parse(dateForm, a.date)
	switch {
	case err != nil:
		return malformed("header %s: expected a time such as 20060102T150405Z", headerDate)
	case !strings.HasPrefix(a.date, a.day) || len(a.day) != len("20060102"):
		return malformed("the credential's day is not that of header %s", headerDate)
	case !s.AnyTime && time.Since(date).Abs() > maxSkew:
		return &Refusal{http.StatusForbidden, "RequestTimeTooSkewed", fmt.Sprintf("the request's time is more than %s from this machine's clock", maxSkew)}
	case !slices.IsSorted(a.headers):
		return malformed("SignedHeaders are not sorted")
	case !slices.Contains(a.headers, "host"):
		return malformed("the host header is not signed")
	}
	if _, err := url.ParseQuery(r.URL.RawQuery); err != nil {
		return malformed("the query cannot be read, so it cannot have been signed")
	}
	for name := range r.Header {
		if lower := strings.ToLower(name); strings.HasPrefix(lower, "x-amz-") && !slices.Contains(a.headers, lower) {
			return &Refusal{http.StatusForbidden, "AccessDenied", fmt.Sprintf("header %s is not signed", name)}
		}
	}
	return nil
}

// matches reports whether one of the keys gives the signature. It compares in
// constant time and tries all keys.
func (s Signed) matches(a *authorization, r *http.Request, payloadHash string) bool {
	scope := strings.Join([]string{a.day, a.region, a.service, "aws4_request"}, "/")
	toSign := strings.Join([]string{algorithm, a.date, scope, hexSHA256([]byte(a.canonical(r, payloadHash)))}, "\n")
	found := 0
	for _, k := range s.Keys {
		if k.SecretAccessKey == "" { // everybody has it
			continue
		}
		key := []byte("AWS4" + k.SecretAccessKey)
		for _, part := range []string{a.day, a.region, a.service, "aws4_request", toSign} {
			mac := hmac.New(sha256.New, key)
			mac.Write([]byte(part))
			key = mac.Sum(nil)
		}
		found |= subtle.ConstantTimeCompare([]byte(hex.EncodeToString(key)), []byte(a.signature)) & s.takesID(k, a.accessKeyID)
	}
	return found == 1
}

// takesID is 1 if an access key ID goes with the secret of the keys.
func (s Signed) takesID(k Keys, id string) int {
	if s.TakesID != nil && s.TakesID(id) {
		return 1
	}
	return subtle.ConstantTimeCompare([]byte(k.AccessKeyID), []byte(id))
}

// canonical is the request in the form that is signed.
func (a *authorization) canonical(r *http.Request, payloadHash string) string {
	path := r.URL.EscapedPath()
	if a.service == string(S3) {
		path = r.URL.Path // S3's paths are encoded once, all others twice
	}
	var b strings.Builder
	b.WriteString(r.Method + "\n" + encode(path, true) + "\n" + canonicalQuery(r) + "\n")
	for _, name := range a.headers {
		b.WriteString(name + ":" + headerValue(r, name) + "\n")
	}
	b.WriteString("\n" + strings.Join(a.headers, ";") + "\n" + payloadHash)
	return b.String()
}

func headerValue(r *http.Request, name string) string {
	switch name { // net/http keeps these elsewhere
	case "host":
		return r.Host
	case "content-length":
		return fmt.Sprint(r.ContentLength)
	}
	values := slices.Clone(r.Header.Values(name))
	for i, value := range values {
		values[i] = strings.Join(strings.Fields(value), " ")
	}
	return strings.Join(values, ",")
}

func canonicalQuery(r *http.Request) string {
	var pairs [][2]string
	for name, values := range r.URL.Query() {
		for _, value := range values {
			pairs = append(pairs, [2]string{encode(name, false), encode(value, false)})
		}
	}
	slices.SortFunc(pairs, func(a, b [2]string) int {
		return strings.Compare(a[0]+"\x00"+a[1], b[0]+"\x00"+b[1])
	})
	var text []string
	for _, pair := range pairs {
		text = append(text, pair[0]+"="+pair[1])
	}
	return strings.Join(text, "&")
}

// encode is the URI encoding of the signature: everything but unreserved
// characters, and the slash of a path.
func encode(text string, path bool) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '.', c == '_', c == '~', path && c == '/':
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

func hexSHA256(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
