/**
 * Web addresses in what a user says and in what the text helper answers.
 *
 * Threat: an address decides where a signed-in browser goes. Only http and https, no credentials in the address, no
 * single-label host, no numeric host. The device has its own rule for where it may go; this one refuses earlier.
 *
 * Runs inside the plugin sandbox: no URL class.
 */
import { SITES } from './phrases.ts';

/** UTF-16 units. */
export const MAX_ADDRESS = 2048;

const SHAPE = /^(?:(https?):\/\/)?([^/?#\\]+)([/?#]\S*)?$/i;
/** Endings that are more often a file's than a site's: these need a scheme or www. */
const FILE_ENDINGS = new Set(
  (
    'pdf doc docx odt rtf txt csv tsv xls xlsx ods ppt pptx odp key pages numbers zip rar tar gz tgz png jpg jpeg gif ' +
    'bmp svg webp ico heic mp3 mp4 wav mov avi mkv webm json xml yaml yml html htm css js mjs ts tsx jsx py rb java ' +
    'c h cpp rs go sh bat exe dmg pkg iso apk log ini cfg conf md bak tmp'
  ).split(' '),
);

interface Parts {
  scheme?: string | undefined;
  host: string;
  port?: string | undefined;
  rest: string;
}

function split(text: string): Parts | undefined {
  if (text.length > MAX_ADDRESS || /[\s\p{Cc}\p{Cf}]/u.test(text)) return undefined;
  const [, scheme, authority = '', rest = ''] = SHAPE.exec(text) ?? [];
  // Names are compared in the form a browser will resolve, so that no look-alike dot or digit slips through.
  const [, host, port] = /^([^:@]+)(?::(\d{1,5}))?$/.exec(authority.normalize('NFKC').toLowerCase()) ?? [];
  return host ? { scheme: scheme?.toLowerCase(), host, port, rest } : undefined;
}

const LABEL = /^[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]*[\p{L}\p{M}\p{N}])?$/u;
const LAST_LABEL = /^(?:[\p{L}\p{M}]{2,63}|xn--[a-z0-9-]{1,59})$/u;

/** A public name of at least two labels: no address in numbers, no name of this machine or network. */
function isPublicName(host: string): boolean {
  const labels = host.split('.');
  const last = labels.at(-1) ?? '';
  return (
    labels.length >= 2 &&
    host.length <= 253 &&
    labels.every((label) => label.length <= 63 && LABEL.test(label)) &&
    LAST_LABEL.test(last) &&
    last !== 'localhost'
  );
}

const toUrl = ({ scheme = 'https', host, port, rest }: Parts) => `${scheme}://${host}${port ? `:${port}` : ''}${rest}`;

/**
 * An address that the user gave outright: with a scheme, with www., or a bare name.
 *
 * @returns the https or http address, or undefined where the text is not clearly one.
 */
export function givenAddress(text: string): string | undefined {
  const parts = split(text);
  if (!parts) return undefined;
  if (parts.scheme) return isPublicName(parts.host) || isLocalName(parts.host) ? toUrl(parts) : undefined;
  // Without a scheme a host name is ASCII, so that a sentence in another script is never taken for one.
  if (!/^[a-z0-9.-]+$/.test(parts.host) || !isPublicName(parts.host)) return undefined;
  if (!parts.host.startsWith('www.') && FILE_ENDINGS.has(parts.host.slice(parts.host.lastIndexOf('.') + 1))) {
    return undefined;
  }
  return toUrl(parts);
}

/** The user may write any address out in full, an internal one too; whether it may be opened is the device's rule. */
function isLocalName(host: string): boolean {
  return /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/.test(host);
}

/** @returns where a known site's name leads, e.g. `google` → `google.com`. Expects the normalised name. */
export function knownSite(name: string): string | undefined {
  return Object.hasOwn(SITES, name) ? SITES[name] : undefined;
}

/**
 * The address that the text helper wrote for a named site.
 *
 * @returns the address to open, or undefined where it is refused: a scheme other than http and https, credentials, an
 * address in numbers, a single-label host, white space, or over 2,048 characters.
 */
export function helperAddress(answer: string): string | undefined {
  const text = answer.trim();
  if (!/^[\p{L}\p{N}]/u.test(text)) return undefined;
  const parts = split(text);
  return parts && isPublicName(parts.host) ? toUrl(parts) : undefined;
}

/**
 * The one address that a goal names, for a blank tab.
 *
 * @returns undefined where the goal names none, or several different ones.
 */
export function onlyAddressIn(goal: string): string | undefined {
  const found = new Map<string, string>();
  for (const word of goal.split(/[\s"'`<>()[\]{}\u201c\u201d\u300c\u300d,，、]+/u)) {
    const candidate = word.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}/=&%~_-]+$/gu, '');
    if (!candidate.includes('.') && !/^https?:\/\//i.test(candidate)) continue;
    const url = givenAddress(candidate);
    if (url) found.set(sameAddress(url), url);
  }
  return found.size === 1 ? [...found.values()][0] : undefined;
}

/** A form in which two ways to write the same address are equal: no scheme, no leading www., no closing slash, no fragment. */
export function sameAddress(url: string): string {
  const [, host = '', rest = ''] = /^(?:https?:\/\/)?(?:www\.)?([^/?#]*)([^#]*)/i.exec(url) ?? [];
  return host.toLowerCase() + rest.replace(/\/$/, '');
}
