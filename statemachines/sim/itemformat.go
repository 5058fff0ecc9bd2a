package sim

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// The formats of the objects that hold the items of a Map.
const (
	formatCSV      = "CSV"
	formatJSON     = "JSON"
	formatJSONL    = "JSONL"
	formatManifest = "MANIFEST"
	athenaData     = "ATHENA_DATA"
)

// Texts of AWS's.
var (
	errNoList     = errors.New("Attempting to map over non-iterable node.") //nolint:staticcheck,revive // AWS's words
	errTwoHeaders = errors.New("CSV headers cannot contain duplicates.")    //nolint:staticcheck,revive // AWS's words
)

// maxUnpacked bounds what a compressed object grows to.
const maxUnpacked = 256 << 20

// objectBody is the body of an answer of GetObject. Bytes that are no text are base64, as
// Step Functions writes them; what is compressed is unpacked.
func objectBody(answer map[string]any) ([]byte, error) {
	text, ok := answer["Body"].(string)
	if !ok {
		return nil, errors.New("the answer of getObject has no Body")
	}
	const gzipMagic, gzipInBase64 = "\x1f\x8b", "H4sI"
	body := []byte(text)
	if strings.HasPrefix(text, gzipInBase64) {
		if packed, err := base64.StdEncoding.DecodeString(text); err == nil {
			body = packed
		}
	}
	if !bytes.HasPrefix(body, []byte(gzipMagic)) {
		return bytes.TrimPrefix(body, []byte("\uFEFF")), nil
	}
	unpacker, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("the object is not in the format of gzip: %w", err)
	}
	if body, err = io.ReadAll(io.LimitReader(unpacker, maxUnpacked+1)); err != nil {
		return nil, fmt.Errorf("the object is not in the format of gzip: %w", err)
	}
	if len(body) > maxUnpacked {
		return nil, fmt.Errorf("the object has more than %d bytes unpacked", maxUnpacked)
	}
	return body, nil
}

// parseItems returns the items in an object.
func parseItems(c *asl.ReaderConfig, body []byte) ([]any, error) {
	switch c.InputType {
	case formatCSV:
		return parseCSV(c, body)
	case formatJSONL:
		return parseLines(body)
	case formatJSON, "":
		return parseList(body, c.ItemsPointer)
	default:
		return nil, fmt.Errorf("items in the format %s cannot be read here: give them by a mock of the ItemReader", c.InputType)
	}
}

// parseList reads a list, or the list at a JSON pointer.
func parseList(body []byte, pointer string) ([]any, error) {
	value, err := decode(body)
	if err != nil {
		return nil, fmt.Errorf("the object is not JSON: %w", err)
	}
	if pointer != "" {
		found, ok := atPointer(value, pointer)
		if !ok {
			return nil, fmt.Errorf("ItemsPointer %q leads to nothing in the object", pointer)
		}
		value = found
	}
	items, ok := value.([]any)
	if !ok {
		return nil, errNoList
	}
	return items, nil
}

// atPointer returns what is at a JSON pointer.
func atPointer(value any, pointer string) (any, bool) {
	if !strings.HasPrefix(pointer, "/") {
		return nil, false
	}
	unescape := strings.NewReplacer("~1", "/", "~0", "~")
	for step := range strings.SplitSeq(pointer[1:], "/") {
		switch at := value.(type) {
		case map[string]any:
			member, ok := at[unescape.Replace(step)]
			if !ok {
				return nil, false
			}
			value = member
		case []any:
			n, err := strconv.Atoi(step)
			if err != nil || n < 0 || n >= len(at) || strconv.Itoa(n) != step {
				return nil, false
			}
			value = at[n]
		default:
			return nil, false
		}
	}
	return value, true
}

// parseLines reads a value a line.
func parseLines(body []byte) ([]any, error) {
	items := []any{}
	lines := bufio.NewScanner(bytes.NewReader(body))
	lines.Buffer(nil, max(len(body)+1, bufio.MaxScanTokenSize))
	for n := 1; lines.Scan(); n++ {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		item, err := decode(line)
		if err != nil {
			return nil, fmt.Errorf("line %d is not JSON: %w", n, err)
		}
		items = append(items, item)
	}
	return items, lines.Err()
}

// delimiters are between the columns of CSV.
var delimiters = map[string]rune{"": ',', "COMMA": ',', "PIPE": '|', "SEMICOLON": ';', "SPACE": ' ', "TAB": '\t'}

// parseCSV makes an object of texts of each row. A row that is short has empty texts, and
// what is behind the last column is dropped.
func parseCSV(c *asl.ReaderConfig, body []byte) ([]any, error) {
	rows := csv.NewReader(bytes.NewReader(body))
	rows.Comma, rows.FieldsPerRecord, rows.LazyQuotes = delimiters[c.CSVDelimiter], -1, true
	headers := c.CSVHeaders
	if c.CSVHeaderLocation != "GIVEN" {
		first, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return []any{}, nil
		}
		if err != nil {
			return nil, fmt.Errorf("the object is not CSV: %w", err)
		}
		headers = first
	}
	seen := map[string]bool{}
	for _, name := range headers {
		if seen[name] {
			return nil, errTwoHeaders
		}
		seen[name] = true
	}
	items := []any{}
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return items, nil
		}
		if err != nil {
			return nil, fmt.Errorf("the object is not CSV: %w", err)
		}
		item := make(map[string]any, len(headers))
		for i, name := range headers {
			item[name] = ""
			if i < len(row) {
				item[name] = row[i]
			}
		}
		items = append(items, item)
	}
}

// object is where an object of S3 is.
type object struct{ bucket, key string }

// parseManifest returns the objects that a manifest lists, and how to read them.
func parseManifest(c *asl.ReaderConfig, body []byte) ([]object, *asl.ReaderConfig, error) {
	if c.ManifestType == athenaData {
		return parseUnload(c, body)
	}
	var inventory struct {
		DestinationBucket string `json:"destinationBucket"`
		FileFormat        string `json:"fileFormat"`
		FileSchema        string `json:"fileSchema"`
		Files             []struct {
			Key string `json:"key"`
		} `json:"files"`
	}
	if err := json.Unmarshal(body, &inventory); err != nil {
		return nil, nil, fmt.Errorf("the object is not a manifest of an S3 inventory: %w", err)
	}
	if inventory.FileFormat != formatCSV {
		return nil, nil, fmt.Errorf("the files of the S3 inventory are %q, but Step Functions reads only CSV", inventory.FileFormat)
	}
	bucket := inventory.DestinationBucket[strings.LastIndexByte(inventory.DestinationBucket, ':')+1:]
	columns := strings.Split(inventory.FileSchema, ",")
	for i := range columns {
		columns[i] = strings.TrimSpace(columns[i])
	}
	objects := make([]object, len(inventory.Files))
	for i, f := range inventory.Files {
		objects[i] = object{bucket, f.Key}
	}
	return objects, &asl.ReaderConfig{InputType: formatCSV, CSVHeaderLocation: "GIVEN", CSVHeaders: columns}, nil
}

// parseUnload reads the manifest of an UNLOAD of Athena: an S3 URI a line.
func parseUnload(c *asl.ReaderConfig, body []byte) ([]object, *asl.ReaderConfig, error) {
	var objects []object
	for line := range strings.Lines(string(body)) {
		line = strings.Trim(strings.TrimSpace(line), `"`)
		if line == "" {
			continue
		}
		uri, err := url.Parse(line)
		if err != nil || uri.Scheme != "s3" || uri.Host == "" {
			return nil, nil, fmt.Errorf("the manifest has %q, which is not an S3 URI", line)
		}
		objects = append(objects, object{uri.Host, strings.TrimPrefix(uri.Path, "/")})
	}
	return objects, c, nil
}

// newListItem makes an item of an object in an answer of ListObjectsV2.
func newListItem(listed map[string]any) (any, error) {
	item := map[string]any{"Etag": listed["ETag"], "Key": listed["Key"], "Size": listed["Size"], "StorageClass": listed["StorageClass"]}
	switch at := listed["LastModified"].(type) {
	case nil:
	case json.Number:
		item["LastModified"] = at
	default:
		text, _ := at.(string)
		modified, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			return nil, fmt.Errorf("LastModified of an object is %v, want a time", at)
		}
		item["LastModified"] = json.Number(strconv.FormatInt(modified.Unix(), 10))
	}
	for name, member := range item {
		if member == nil {
			delete(item, name)
		}
	}
	return item, nil
}
