/** What an author delivers: a folder, or one file, with the manifest, one file of code and the readme. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { BUNDLE_FILE, bundlePlugin } from '../bundle/bundle.ts';
import { readManifest } from '../read-manifest.ts';

export interface Artifact {
  directory: string;
  files: string[];
  sha256: string;
}

/** Builds into `build/` of the plugin's folder. The same sources give the same bytes. */
export async function buildArtifact(directory: string, out = join(directory, 'build')): Promise<Artifact> {
  const manifest = readManifest(directory);
  const bundle = await bundlePlugin(directory, manifest.entry);
  mkdirSync(out, { recursive: true });
  const files: Record<string, string> = {
    'plugin.json': `${JSON.stringify({ ...manifest, entry: BUNDLE_FILE }, undefined, 2)}\n`,
    [BUNDLE_FILE]: bundle.code,
    [`${BUNDLE_FILE}.map`]: bundle.map,
  };
  const readme = join(directory, 'README.md');
  if (existsSync(readme)) files['README.md'] = readFileSync(readme, 'utf8');
  const hash = createHash('sha256');
  for (const [name, content] of Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1))) {
    writeFileSync(join(out, name), content);
    hash.update(`${createHash('sha256').update(content).digest('hex')}  ${name}\n`);
  }
  return { directory: out, files: Object.keys(files), sha256: hash.digest('hex') };
}

/** One compressed archive of the built folder, deterministic. @returns its path. */
export async function packArtifact(
  directory: string,
  into: string,
): Promise<{ file: string; sha256: string; bytes: number }> {
  const artifact = await buildArtifact(directory);
  const { id, version } = readManifest(directory);
  const archive = gzipSync(
    tar(
      artifact.files.map((name) => ({ name: `${id}/${name}`, content: readFileSync(join(artifact.directory, name)) })),
    ),
  );
  const file = join(into, `${id}-${version}.tgz`);
  writeFileSync(file, archive);
  return { file, sha256: createHash('sha256').update(archive).digest('hex'), bytes: archive.length };
}

const BLOCK = 512;

/** The plain `ustar` format: one header block per file, contents padded to blocks, two empty blocks at the end. */
function tar(files: { name: string; content: Buffer }[]): Buffer {
  const blocks = files.flatMap(({ name, content }) => {
    const header = Buffer.alloc(BLOCK);
    const put = (text: string, at: number) => header.write(text, at, 'ascii');
    const octal = (value: number, digits: number) => value.toString(8).padStart(digits, '0');
    put(name.slice(0, 100), 0);
    put(`${octal(0o644, 7)}\0${octal(0, 7)}\0${octal(0, 7)}\0`, 100);
    put(`${octal(content.length, 11)}\0${octal(0, 11)}\0`, 124);
    // The checksum is computed with its own field blank.
    put('        ', 148);
    put('0', 156);
    put('ustar\x0000', 257);
    const sum = header.reduce((total, byte) => total + byte, 0);
    put(`${octal(sum, 6)}\0 `, 148);
    return [header, content, Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK)];
  });
  return Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]);
}
