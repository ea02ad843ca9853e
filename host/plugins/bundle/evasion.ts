/**
 * Makes a bundle acceptable to the sandbox's source check, without changing what it does.
 *
 * The sandbox refuses source text that holds `import(`, `eval(`, `<!--` or `-->` anywhere, strings and comments included,
 * because it cannot parse. We can: text inside strings, templates and regular expressions is written with escapes, comments
 * go, and names that only look like the forbidden words are spelled another way. What remains is a real dynamic import or
 * a direct eval, and is refused here, with its place, in words an author can act on. A tagged template that reads `.raw`
 * sees the escapes; that is the one visible change.
 *
 * Lines keep their numbers, so that a place in the result is a place in the source map.
 */
import { type Node, type Position, parse, type Token } from 'acorn';

export interface Finding {
  line: number;
  column: number;
  problem: string;
}

export interface Evaded {
  code: string;
  findings: Finding[];
}

/** @throws Finding-like SyntaxError of the parser, with `loc`. */
export function evade(source: string): Evaded {
  const tokens: Token[] = [];
  const edits: { start: number; end: number; text: string }[] = [];
  const tree = parse(source, {
    ecmaVersion: 'latest',
    // Strict, and `<!--` is never a comment: the same reading that the sandbox's strict evaluator has.
    sourceType: 'module',
    locations: true,
    onToken: tokens,
    onComment: (_block, _text, start, end) => {
      const lines = source.slice(start, end).split('\n').length - 1;
      edits.push({ start, end, text: lines > 0 ? '\n'.repeat(lines) : ' ' });
    },
  });
  const findings: Finding[] = [];
  const refused = new Set<number>();
  walk(tree, (node) => {
    const problem = refusal(node);
    if (!problem) return;
    refused.add(node.start);
    const { line, column } = (node.loc as { start: Position }).start;
    findings.push({ line, column, problem });
  });

  tokens.forEach((token, at) => {
    const raw = source.slice(token.start, token.end);
    const next = tokens[at + 1];
    const label = token.type.label;
    if (label === 'string' || label === 'template' || label === 'regexp') {
      const text = escaped(raw);
      if (text !== raw) edits.push({ start: token.start, end: token.end, text });
    } else if (label === '++/--' && source[token.end] === '>') {
      edits.push({ start: token.end, end: token.end, text: ' ' });
    } else if (source.startsWith('<!--', token.start)) {
      edits.push({ start: token.start + 1, end: token.start + 1, text: ' ' });
    } else if ((raw === 'import' || raw === 'eval') && next?.type.label === '(' && !refused.has(token.start)) {
      const before = tokens[at - 1];
      // `x.import(…)` becomes `x["import"](…)`, and a method of that name a computed one.
      const start = before?.type.label === '.' ? before.start : token.start;
      edits.push({ start, end: token.end, text: `["${raw}"]` });
    }
  });
  edits.sort((a, b) => b.start - a.start);
  let code = source;
  for (const { start, end, text } of edits) code = code.slice(0, start) + text + code.slice(end);
  return { code, findings };
}

/** One letter of each word as an escape, which every kind of literal reads as the same letter. */
function escaped(raw: string): string {
  return raw
    .replace(/impor(?=t\s*(?:\(|\/[/*]))t/g, 'impor\\x74')
    .replace(/eva(?=l\s*\()l/g, 'eva\\x6c')
    .replace(/<!--/g, '<\\x21--')
    .replace(/-->/g, '--\\x3e');
}

function refusal(node: Node): string | undefined {
  if (node.type === 'ImportExpression') return 'import() loads code while running; import it at the top of the file';
  const callee = (node as Node & { callee?: Node & { name?: string } }).callee;
  if (node.type === 'CallExpression' && callee?.type === 'Identifier' && callee.name === 'eval') {
    return 'eval() runs text as code; write the code out';
  }
  return undefined;
}

/** Every node of the tree, parents first. */
export function walk(node: Node, each: (node: Node) => void): void {
  each(node);
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (child && typeof child === 'object' && typeof child.type === 'string') walk(child as Node, each);
    }
  }
}
