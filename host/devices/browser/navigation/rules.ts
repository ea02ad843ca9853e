/**
 * Where a tab may go.
 *
 * Threat: a page, a redirect or a misled controller leads the browser to this machine's own services, to the network it
 * stands in, or to files. Names are resolved before a request leaves, every address of a name must be public, and the
 * address that really answered is checked again, because a name can answer differently the second time. A name that does
 * not resolve here is refused: the browser might still find it, by other means and inside. Only behind a proxy it passes,
 * because there the proxy looks it up.
 */
import { isIP } from 'node:net';
import { isPublic } from '../../../../core/authorization/addresses.ts';
import type { NavigationRules } from '../config.ts';
import type { Resolve } from './names.ts';

export interface Denial {
  code: 'NAVIGATION_DENIED' | 'URL_NOT_ALLOWED';
  cause:
    | 'SCHEME'
    | 'CREDENTIALS_IN_ADDRESS'
    | 'DENIED_BY_RULE'
    | 'NOT_ON_THE_LIST'
    | 'PRIVATE_ADDRESS'
    | 'NAME_NOT_FOUND'
    | 'NAME_LOOKUP_TIMEOUT'
    | 'NOT_AN_ADDRESS';
}

export interface RulesOptions {
  resolve: Resolve;
  /** No proxy is between: names are this device's to look up, and the address that answers is the site's own. */
  direct: boolean;
}

export class Rules {
  readonly #allow: ((url: URL) => boolean)[];
  readonly #deny: ((url: URL) => boolean)[];
  readonly #only: boolean;
  readonly #resolve: Resolve;
  readonly #direct: boolean;

  constructor(rules: NavigationRules, { resolve, direct }: RulesOptions) {
    this.#allow = rules.allow.map(matcher);
    this.#deny = rules.deny.map(matcher);
    this.#only = rules.only;
    this.#resolve = resolve;
    this.#direct = direct;
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
    const cause = await this.#closed(url.hostname);
    return cause && { code: 'NAVIGATION_DENIED', cause };
  }

  /** The address that answered. @returns whether the answer must not be shown. */
  answeredFromInside(address: string, ip: string): boolean {
    if (!this.#direct || !ip || !URL.canParse(address)) return false;
    return this.#byRule(new URL(address)) === undefined && !isPublic(ip);
  }

  /** @returns a denial, null when a rule allows it, undefined when no rule speaks of it. */
  #byRule(url: URL): Denial | null | undefined {
    if (this.#deny.some((matches) => matches(url))) return { code: 'NAVIGATION_DENIED', cause: 'DENIED_BY_RULE' };
    return this.#allow.some((matches) => matches(url)) ? null : undefined;
  }

  /** Why a host is not for a tab to reach. */
  async #closed(hostname: string): Promise<Denial['cause'] | undefined> {
    const name = hostname
      .replace(/^\[|\]$/g, '')
      .replace(/\.$/, '')
      .toLowerCase();
    if (isIP(name)) return isPublic(name) ? undefined : 'PRIVATE_ADDRESS';
    if (name === 'localhost' || name.endsWith('.localhost') || !name) return 'PRIVATE_ADDRESS';
    const addresses = await this.#resolve(name);
    if (addresses === 'late') return this.#direct ? 'NAME_LOOKUP_TIMEOUT' : undefined;
    if (addresses.some((address) => !isPublic(address))) return 'PRIVATE_ADDRESS';
    return addresses.length === 0 && this.#direct ? 'NAME_NOT_FOUND' : undefined;
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
