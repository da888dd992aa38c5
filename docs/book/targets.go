// Checking links: the target is there, and so is the anchor.

package book

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"strings"
)

// checkLinks finds the dead links of a page, and the claims without a test.
func (b *Book) checkLinks(p *page) []Problem {
	links, found := p.links()
	for _, l := range links {
		if err := b.checkLink(p, l); err != nil {
			found = append(found, p.problem(l.line, "%v", err))
		}
	}
	return found
}

func (b *Book) checkLink(p *page, l link) error {
	if l.target == "" {
		return fmt.Errorf("the link [%s] has no target", l.text)
	}
	u, err := url.Parse(l.target)
	if err != nil {
		return fmt.Errorf("malformed link %s: %w", l.target, errors.Unwrap(err))
	}
	switch {
	case u.Scheme == "http" || u.Scheme == "https":
		return checkHost(u, l.target)
	case u.Scheme != "" || u.Host != "":
		return fmt.Errorf("malformed link %s: write https://… or a path from this page", l.target)
	case strings.HasPrefix(u.Path, "/"):
		return fmt.Errorf("dead link %s: write the path from this page, without the leading /", l.target)
	}
	file := p.name
	if u.Path != "" {
		file = path.Join(path.Dir(p.name), u.Path)
	}
	return b.checkFile(file, u.Fragment, l)
}

// checkHost looks at the form only: nothing here asks the network.
func checkHost(u *url.URL, target string) error {
	host := u.Hostname()
	if host == "" || u.Opaque != "" {
		return fmt.Errorf("malformed link %s: no host in it", target)
	}
	if strings.HasPrefix(host, ".") || strings.HasSuffix(host, ".") || strings.Contains(host, "..") {
		return fmt.Errorf("malformed link %s: %s is no host", target, host)
	}
	return nil
}

func (b *Book) checkFile(file, fragment string, l link) error {
	if !fs.ValidPath(file) {
		return fmt.Errorf("dead link %s: it leaves the workspace", l.target)
	}
	if _, err := fs.Stat(b.ws, file); err != nil {
		return fmt.Errorf("dead link %s: there is no %s", l.target, file)
	}
	if fragment != "" {
		if err := b.checkFragment(file, fragment, l.target); err != nil {
			return err
		}
	}
	return b.checkClaim(file, l)
}

// checkFragment holds #fragment to the headings of a page. Lines of source
// files move, so #L10 is refused.
func (b *Book) checkFragment(file, fragment, target string) error {
	if path.Ext(file) != ".md" {
		return fmt.Errorf("dead link %s: only a heading of a .md file can be linked to (line numbers move)", target)
	}
	to := b.page(file)
	if to == nil {
		text, err := fs.ReadFile(b.ws, file)
		if err != nil {
			return fmt.Errorf("dead link %s: %w", target, err)
		}
		to = parsePage(file, string(text))
	}
	if !to.anchors()[fragment] {
		return fmt.Errorf("dead link %s: no heading of %s has the anchor #%s", target, file, fragment)
	}
	return nil
}
