/** What every benchmark prints with. */

export function median(values) {
  return quantile(values, 0.5);
}

export function quantile(values, share) {
  if (values.length === 0) throw new Error('Nothing was measured.');
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

export function markdownTable(heads, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('\n');
}
