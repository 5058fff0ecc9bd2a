package compile

// CausePatternsOf is what Compile takes where no patterns are given.
var CausePatternsOf = causePatternsOf

// Glob is a pattern of a Cause in both query languages.
func Glob(pattern, in string) (stringMatches, jsonata string, err error) {
	g, err := parseGlob(pattern)
	if err != nil {
		return "", "", err
	}
	return g.stringMatches(), g.jsonata(in), nil
}
