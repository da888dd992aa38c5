// Code on a page that would fail in a program of the reader.

package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Readers copy code from a page. A step can ignore an error that cannot happen in the step, but in
// the reader's program it can happen.
func TestPrintedCodeCanBeCopied(t *testing.T) {
	tree := root(t)
	for _, file := range append(inChapters(t, tree, "step_*.go"), embedded(t, tree)...) {
		for _, problem := range checkCopy(t, file, readFile(t, tree, file)) {
			t.Error(problem)
		}
	}
}

func TestCheckCopyRefuses(t *testing.T) {
	for _, code := range []string{
		`h.DeleteFunc = nil; _ = H{DeleteFunc: func(obj any) { print(obj.(*Pod).Name) }}`,
		`_ = H{DeleteFunc: func(obj any) { if gone, ok := obj.(Tombstone); ok { print(gone.Obj.(*Pod).Name) } }}`,
		`show := func(o any) { print(o.(*Pod).Name) }; _ = H{DeleteFunc: func(obj any) { show(obj) }}`,
		`show := func(o any) { print(o.(*Pod).Name) }; _ = H{DeleteFunc: show}`,
		`err := errors.Join(queue.Add(a), queue.Delete(a))`,
		`cache.WaitFor(ctx, "", synced)`,
		`pods := cache.NewStore(key); pods.Add(obj)`,
		`index, patience := cache.NewIndexer(key, indexers), time.Second; go func() { index.Update(pod) }()`,
	} {
		if got := checkCopy(t, "step.go", inFunction(code)); len(got) == 0 {
			t.Errorf("checkCopy() = no problem, want one, in\n%s", code)
		}
	}
	method := "package main\nfunc (p printer) OnDelete(obj any) { print(obj.(*Pod).Name) }\n"
	if got := checkCopy(t, "step.go", method); len(got) != 1 {
		t.Errorf("checkCopy() = %q, want one problem, in\n%s", got, method)
	}
}

func TestCheckCopyAllows(t *testing.T) {
	for _, code := range []string{
		`_ = H{DeleteFunc: func(obj any) { if pod, ok := obj.(*Pod); ok { print(pod.Name) } }}`,
		`_ = H{AddFunc: func(obj any) { print(obj.(*Pod).Name) }}`,
		`show := func() { print(list[0].(*Pod).Name) }; _ = H{DeleteFunc: func(any) { show() }}`,
		`err := errors.Join(err, errors.New("there is none"))`,
		`err := errors.Join(failed...)`,
		`if !cache.WaitFor(ctx, "", synced) { return }`,
		`pods := cache.NewStore(key); err := pods.Add(obj); queue := workqueue.New(); queue.Add(obj)`,
		`queue := deltafifo.New(deltafifo.Options{}); queue.Close(); pods := cache.NewStore(key); pods.Bookmark("")`,
	} {
		if got := checkCopy(t, "step.go", inFunction(code)); len(got) > 0 {
			t.Errorf("checkCopy() = %q, want no problem, in\n%s", got, code)
		}
	}
}

// inFunction returns a Go file with these statements.
func inFunction(statements string) string { return "package main\nfunc f() {\n" + statements + "\n}\n" }

var embeddedGo = regexp.MustCompile(`<!-- code (\S+\.go) `)

// embedded returns the Go files whose declarations are on a page, without steps and tests.
func embedded(t *testing.T, root fs.FS) (files []string) {
	t.Helper()
	for _, page := range pages(t, root) {
		for _, match := range embeddedGo.FindAllStringSubmatch(readFile(t, root, page), -1) {
			name := match[1]
			if !strings.Contains(name, "/step_") && !strings.HasSuffix(name, "_test.go") {
				files = append(files, name)
			}
		}
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// checkCopy returns the problems of a Go file, a line each.
func checkCopy(t *testing.T, name, text string) []string {
	t.Helper()
	c := copyChecker{
		fset:      token.NewFileSet(),
		functions: map[string]*ast.FuncLit{},
		stores:    map[string]bool{},
		checked:   map[ast.Node]bool{},
	}
	file, err := parser.ParseFile(c.fset, name, text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, c.collect)
	ast.Inspect(file, c.check)
	return c.problems
}

// A copyChecker first collects facts about a file, and then looks for problems.
type copyChecker struct {
	fset      *token.FileSet
	functions map[string]*ast.FuncLit // by the variable that they are assigned to
	stores    map[string]bool         // the variables that hold a store or a queue
	checked   map[ast.Node]bool       // the type assertions with two results
	problems  []string
}

func (c *copyChecker) refuse(node ast.Node, problem string) {
	c.problems = append(c.problems, c.fset.Position(node.Pos()).String()+": "+problem)
}

// storeConstructor matches the functions that make a store or a queue. Some methods of these return
// errors.
var storeConstructor = regexp.MustCompile(`^(cache\.New(Store|Indexer|DeltaFIFO|RealFIFO)\w*|` +
	`(store|indexer|deltafifo)\.New)$`)

// storeMethods are the methods of stores and queues that return errors.
var storeMethods = []string{"Add", "Update", "Delete", "Replace", "Resync", "Index", "ByIndex", "IndexKeys",
	"AddIndexers", "Get", "GetByKey", "Pop"}

// collect notes the functions and the stores that are assigned to variables, and the checked type
// assertions.
func (c *copyChecker) collect(node ast.Node) (descend bool) {
	assign, ok := node.(*ast.AssignStmt)
	if !ok {
		return true
	}
	if assertion, ok := assign.Rhs[0].(*ast.TypeAssertExpr); ok && len(assign.Lhs) == 2 && len(assign.Rhs) == 1 {
		c.checked[assertion] = true
	}
	for i, value := range assign.Rhs {
		variable, ok := assign.Lhs[i].(*ast.Ident)
		if !ok {
			continue
		}
		switch value := value.(type) {
		case *ast.FuncLit:
			c.functions[variable.Name] = value
		case *ast.CallExpr:
			if storeConstructor.MatchString(selector(value.Fun)) {
				c.stores[variable.Name] = true
			}
		}
	}
	return true
}

// check looks for problems in a node, but not in the nodes below it.
func (c *copyChecker) check(node ast.Node) (descend bool) {
	switch node := node.(type) {
	case *ast.KeyValueExpr:
		if key, ok := node.Key.(*ast.Ident); ok && key.Name == "DeleteFunc" {
			if function := c.function(node.Value); function != nil {
				c.checkDeleteHandler(function.Type, function.Body, "")
			}
		}
	case *ast.FuncDecl:
		if node.Name.Name == "OnDelete" {
			c.checkDeleteHandler(node.Type, node.Body, "")
		}
	case *ast.CallExpr:
		c.checkErrorsJoin(node)
	case *ast.ExprStmt:
		if call, ok := node.X.(*ast.CallExpr); ok {
			c.checkDroppedResult(call)
		}
	}
	return true
}

// checkErrorsJoin refuses a call of errors.Join with several calls as arguments.
func (c *copyChecker) checkErrorsJoin(join *ast.CallExpr) {
	if selector(join.Fun) != "errors.Join" {
		return
	}
	calls := 0
	for _, argument := range join.Args {
		call, ok := argument.(*ast.CallExpr)
		if !ok {
			continue
		}
		if name := selector(call.Fun); name != "errors.New" && name != "fmt.Errorf" {
			calls++
		}
	}
	if calls > 1 {
		c.refuse(join, "errors.Join of calls makes the second call even if the first has failed")
	}
}

// function returns the function literal that an expression is, or that its variable holds.
func (c *copyChecker) function(value ast.Expr) *ast.FuncLit {
	switch value := value.(type) {
	case *ast.FuncLit:
		return value
	case *ast.Ident:
		return c.functions[value.Name]
	}
	return nil
}

// checkDeleteHandler refuses type assertions with one result in a function that gets a deleted
// object or its tombstone, and in the functions that it passes the object to. If only is not empty,
// it is the variable with the object, and assertions of other variables are fine.
func (c *copyChecker) checkDeleteHandler(function *ast.FuncType, body *ast.BlockStmt, only string) {
	parameters := parameterNames(function)
	ast.Inspect(body, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.TypeAssertExpr:
			isTypeSwitch := node.Type == nil
			if !isTypeSwitch && !c.checked[node] && (only == "" || only == selector(node.X)) {
				c.refuse(node, "a deleted object may be a tombstone, or one without an object: "+
					"use the type assertion with two results")
			}
		case *ast.CallExpr:
			called := c.function(node.Fun)
			if called == nil {
				break
			}
			for i, name := range parameterNames(called.Type) {
				if i < len(node.Args) && slices.Contains(parameters, selector(node.Args[i])) {
					c.checkDeleteHandler(called.Type, called.Body, name)
				}
			}
		}
		return true
	})
}

func parameterNames(function *ast.FuncType) (names []string) {
	for _, field := range function.Params.List {
		for _, name := range field.Names {
			names = append(names, name.Name)
		}
	}
	return names
}

// checkDroppedResult refuses a statement that drops the result of a wait, or the error of a store
// or a queue.
func (c *copyChecker) checkDroppedResult(call *ast.CallExpr) {
	function, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return
	}
	if strings.HasPrefix(function.Sel.Name, "WaitFor") {
		c.refuse(call, "it goes on even if "+function.Sel.Name+" has waited in vain")
	}
	if c.stores[selector(function.X)] && slices.Contains(storeMethods, function.Sel.Name) {
		c.refuse(call, "it drops the error of "+selector(call.Fun))
	}
}

// selector returns a name such as "errors.Join" or "obj", or "" for any other expression.
func selector(expression ast.Expr) string {
	switch e := expression.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return selector(e.X) + "." + e.Sel.Name
	}
	return ""
}
