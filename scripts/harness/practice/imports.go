// How the imports of a Go file follow its code.

package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ast/astutil"
)

// tidy returns the text with its imports changed, as withImports does it.
func tidy(text, source string) string {
	header, rest := withImports(text, source)
	return header + rest
}

// withImports returns the two parts of a text: its header, which ends with its imports, and the
// rest. In the header, it adds those imports of source that the text uses and does not have, and
// removes the imports that the text does not use. A text that is not valid Go stays as it is.
func withImports(text, source string) (header, rest string) {
	file, err := parser.ParseFile(token.NewFileSet(), "", text, parser.ParseComments)
	sourceFile, sourceErr := parser.ParseFile(token.NewFileSet(), "", source, parser.ImportsOnly)
	if err != nil || sourceErr != nil {
		return "", text
	}
	begin, end := importPlace(file)
	used := usedPackages(file)
	had, wanted := byKey(file.Imports), map[string]*ast.ImportSpec{}
	for _, spec := range slices.Concat(file.Imports, sourceFile.Imports) {
		_, name, _ := importNames(spec)
		needsNoUse := (name == "_" || name == ".") && had[importKey(spec)] != nil
		if used[name] || needsNoUse {
			wanted[importKey(spec)] = spec
		}
	}
	if sameKeys(had, wanted) {
		return text[:end], text[end:]
	}
	if sourceBegin, sourceEnd := importPlace(sourceFile); sameKeys(wanted, byKey(sourceFile.Imports)) {
		return text[:begin] + source[sourceBegin:sourceEnd], text[end:]
	}
	return changeImports(text[:end], had, wanted), text[end:]
}

// importPlace returns where the imports of a file begin and end. In a file without imports, it is
// the end of the package clause.
func importPlace(file *ast.File) (begin, end int) {
	begin = int(file.Name.End()) - 1
	end = begin
	for _, decl := range file.Decls {
		if group, ok := decl.(*ast.GenDecl); ok && group.Tok == token.IMPORT {
			end = int(decl.End()) - 1
		}
	}
	return begin, end
}

// changeImports changes the imports in a header.
func changeImports(header string, had, wanted map[string]*ast.ImportSpec) string {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", header, parser.ParseComments)
	if err != nil {
		return header // it was parsed before
	}
	for _, key := range slices.Sorted(maps.Keys(wanted)) {
		if importPath, _, alias := importNames(wanted[key]); had[key] == nil {
			astutil.AddNamedImport(set, file, alias, importPath)
		}
	}
	for key, spec := range had {
		if importPath, _, alias := importNames(spec); wanted[key] == nil {
			astutil.DeleteNamedImport(set, file, alias, importPath)
		}
	}
	var changed bytes.Buffer
	if err := format.Node(&changed, set, file); err != nil {
		return header
	}
	return strings.TrimRight(changed.String(), "\n")
}

// usedPackages returns the names in front of a dot in a file. Some are packages.
func usedPackages(file *ast.File) map[string]bool {
	used := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if selector, ok := n.(*ast.SelectorExpr); ok {
			used[fmt.Sprint(selector.X)] = true
		}
		return true
	})
	return used
}

var versionSuffix = regexp.MustCompile(`/v\d+$`)

// importNames returns the path of an import, its name in the file, and its alias if it has one. The
// name of an import without an alias is the last part of its path, such as klog of k8s.io/klog/v2.
func importNames(spec *ast.ImportSpec) (importPath, name, alias string) {
	importPath, _ = strconv.Unquote(spec.Path.Value)
	if spec.Name != nil {
		return importPath, spec.Name.Name, spec.Name.Name
	}
	return importPath, path.Base(versionSuffix.ReplaceAllString(importPath, "")), ""
}

// importKey returns the import as it is written.
func importKey(spec *ast.ImportSpec) string {
	importPath, _, alias := importNames(spec)
	return alias + " " + importPath
}

// byKey returns the imports by importKey.
func byKey(specs []*ast.ImportSpec) map[string]*ast.ImportSpec {
	all := map[string]*ast.ImportSpec{}
	for _, spec := range specs {
		all[importKey(spec)] = spec
	}
	return all
}

// sameKeys reports whether the imports of a and b are the same.
func sameKeys(a, b map[string]*ast.ImportSpec) bool {
	return slices.Equal(slices.Sorted(maps.Keys(a)), slices.Sorted(maps.Keys(b)))
}
