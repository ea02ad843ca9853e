/**
 * Where a tab may go.
 *
 * Threat: a page, a redirect or a misled controller leads the browser to this machine's own services, to the network it
 * stands in, or to files. Names are resolved before a request leaves, every address of a name must be public, and the
 * address that really answered is checked again, because a name can answer differently the second time.
 */
import { isIP } from 'node:net';
import { isPublic } from '../../../../core/authorization/addresses.ts';
import type { NavigationRules } from '../config.ts';

export interface Denial {
  code: 'NAVIGATION_DENIED' | 'URL_NOT_ALLOWED';
  cause:
    | 'SCHEME'
    | 'CREDENTIALS_IN_ADDRESS'
    | 'DENIED_BY_RULE'
    | 'NOT_ON_THE_LIST'
    | 'PRIVATE_ADDRESS'
    | 'NOT_AN_ADDRESS';
}

/** @returns all addresses of a name, or none when it does not resolve. */
export type Resolve = (name: string) => Promise<string[]>;

export class Rules {
  readonly #allow: ((url: URL) => boolean)[];
  readonly #deny: ((url: URL) => boolean)[];
  readonly #only: boolean;
  readonly #resolve: Resolve;

  constructor(rules: NavigationRules, resolve: Resolve) {
    this.#allow = rules.allow.map(matcher);
    this.#deny = rules.deny.map(matcher);
    this.#only = rules.only;
    this.#resolve = resolve;
  }

  /** @returns why the address may not be visited, or nothing when it may. */
  async denial(address: string): Promise<Denial | undefined> {
    if (!URL.canParse(address)) return { code: 'URL_NOT_ALLOWED', cause: 'NOT_AN_ADDRESS' };
    const url = new URL(address);
    if (address === 'about:blank' || address === 'about:srcdoc') return undefined;
    if (url.username || url.password) return { code: 'URL_NOT_ALLOWED', cause: 'CREDENTIALS_IN_ADDRESS' };
    const known = this.#byRule(url);
    if (known !== undefined) return known ?? undefined;
    if (url.protocol !== 'http:' && url.protocol !== 'https:') return { code: 'URL_NOT_ALLOWED', cause: 'SCHEME' };
    if (this.#only) return { code: 'NAVIGATION_DENIED', cause: 'NOT_ON_THE_LIST' };
    return (await this.#leadsInside(url.hostname))
      ? { code: 'NAVIGATION_DENIED', cause: 'PRIVATE_ADDRESS' }
      : undefined;
  }

  /** The address that answered. @returns whether the answer must not be shown. */
  answeredFromInside(address: string, ip: string): boolean {
    if (!ip || !URL.canParse(address)) return false;
    return this.#byRule(new URL(address)) === undefined && !isPublic(ip);
  }

  /** @returns a denial, null when a rule allows it, undefined when no rule speaks of it. */
  #byRule(url: URL): Denial | null | undefined {
    if (this.#deny.some((matches) => matches(url))) return { code: 'NAVIGATION_DENIED', cause: 'DENIED_BY_RULE' };
    return this.#allow.some((matches) => matches(url)) ? null : undefined;
  }

  async #leadsInside(hostname: string): Promise<boolean> {
    const name = hostname
      .replace(/^\[|\]$/g, '')
      .replace(/\.$/, '')
      .toLowerCase();
    if (isIP(name)) return !isPublic(name);
    if (name === 'localhost' || name.endsWith('.localhost') || !name) return true;
    const addresses = await this.#resolve(name);
    return addresses.some((address) => !isPublic(address));
  }
}

function matcher(pattern: string): (url: URL) => boolean {
  if (pattern.startsWith('file:')) return (url) => url.protocol === 'file:';
  const [, scheme, wild, host = '', port] =
    /^(https?):\/\/(\*\.)?((?:\[[^\]]+\])|[^:/]+)(?::(\d+|\*))?\/?$/.exec(pattern) ?? [];
  const canonical = URL.canParse(`${scheme}://${host}`) ? new URL(`${scheme}://${host}`).hostname : host;
  return (url) => {
    if (url.protocol !== `${scheme}:`) return false;
    const name = url.hostname.replace(/\.$/, '');
    const hostFits = wild ? name.endsWith(`.${canonical}`) || name === canonical : name === canonical;
    const portFits =
      port === '*' || url.port === (port === undefined || port === defaultPort(url.protocol) ? '' : port);
    return hostFits && portFits;
  };
}

const defaultPort = (protocol: string) => (protocol === 'https:' ? '443' : '80');
