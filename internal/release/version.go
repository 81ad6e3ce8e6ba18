package release

import (
	"fmt"
	"strings"

	"github.com/Masterminds/semver/v3"
)

// parseVersion takes versions of three parts only, as Flux does (fluxcd/pkg/version).
func parseVersion(v string) (*semver.Version, error) {
	if strings.Count(v, ".") < 2 {
		return nil, semver.ErrInvalidSemVer
	}
	return semver.NewVersion(v)
}

// latest returns the index of the highest of the versions that a range allows, -1 for
// none; an exact match counts before all, and "" and "*" are the highest that is no
// prerelease. Where two are equal but for build metadata, newer tells.
func latest(versions []string, wanted string, newer func(i, j int) bool) (int, error) {
	for i, v := range versions {
		if wanted != "" && v == wanted {
			return i, nil
		}
	}
	if wanted == "" {
		wanted = "*"
	}
	constraint, err := semver.NewConstraint(wanted)
	if err != nil {
		return -1, fmt.Errorf("version %q is no version and no range: %w", wanted, err)
	}
	best, bestVersion := -1, (*semver.Version)(nil)
	for i, text := range versions {
		v, err := parseVersion(text)
		if err != nil || !constraint.Check(v) {
			continue
		}
		if best < 0 || v.GreaterThan(bestVersion) || v.Equal(bestVersion) && newer(i, best) {
			best, bestVersion = i, v
		}
	}
	return best, nil
}
