import { describe, expect, it } from 'vitest';
import type { ObservedElement } from './observation.ts';
import { button, field, pageWith } from './testing/pages.ts';
import { acceptsConsent, goalCoversConsent, wallBehindStop, wallInTheWay } from './walls.ts';

const password = field('p', { label: 'Password', type: 'password', sensitive: true });
const page = (elements: ObservedElement[], title: string, text = '', url = 'https://a.example/x') =>
  pageWith(elements, { title, text, url });

describe('a wall in the way', () => {
  it.each<[string, ReturnType<typeof page>, string | undefined]>([
    ['a sign-in page', page([field('u'), password, button('s', { label: 'Sign in' })], 'Sign in'), 'AUTH_REQUIRED'],
    [
      'a sign-in page by its address',
      page([field('u'), password], 'Welcome', '', 'https://a.example/login?next=/x'),
      'AUTH_REQUIRED',
    ],
    ['a sign-in page in Thai', page([field('u'), password], 'เข้าสู่ระบบ'), 'AUTH_REQUIRED'],
    [
      'an expired session',
      page([field('u'), password], 'Shop', 'Your session has expired. Log in again.'),
      'AUTH_REQUIRED',
    ],
    [
      'a page of content with a sign-in box',
      page([field('u'), password], 'News', `${'Words of an article. '.repeat(100)}`),
      undefined,
    ],
    [
      'a page that creates an account',
      page([field('u'), password], 'Create your account', 'Already a member? Sign in'),
      undefined,
    ],
    ['a page about signing in, without a password field', page([button('a')], 'How to sign in'), undefined],
    ['a challenge page', page([], 'Just a moment', 'Checking your browser before you go on'), 'CAPTCHA_REQUIRED'],
    [
      'a robot check in look-alike letters',
      page([button('c', { label: 'I’m nоt a rоbоt' })], 'Check'),
      'CAPTCHA_REQUIRED',
    ],
    ['a robot check', page([button('c', { label: "I'm not a robot" })], 'Security check'), 'CAPTCHA_REQUIRED'],
    [
      'a form with a robot check at its end',
      page([field('n'), button('c', { label: "I'm not a robot" })], 'Contact'),
      undefined,
    ],
    ['an ordinary page', page([button('a')], 'Shop', 'Things to buy'), undefined],
  ])('%s', (_name, given, expected) => {
    expect(wallInTheWay(given)).toBe(expected);
  });
});

describe('what explains a stop', () => {
  const accept = button('ok', { label: 'Accept all', context: 'We use cookies' });
  it.each<[string, ReturnType<typeof page>, string | undefined]>([
    [
      'a robot check on a form',
      page([field('n'), button('c', { label: "I'm not a robot" })], 'Contact'),
      'CAPTCHA_REQUIRED',
    ],
    ['a sign-in box on a page of content', page([password], 'News', 'x '.repeat(2000)), 'AUTH_REQUIRED'],
    ['a consent banner', page([accept, button('a')], 'Shop'), 'CONSENT_BANNER'],
    ['nothing of the kind', page([button('a')], 'Shop'), undefined],
  ])('%s', (_name, given, expected) => {
    expect(wallBehindStop(given)).toBe(expected);
  });
});

describe('accepting a consent banner', () => {
  it.each<[string, Partial<ObservedElement>, boolean]>([
    ['accept all', { label: 'Accept all', context: 'This site uses cookies' }, true],
    ['accept cookies', { label: 'Accept cookies' }, true],
    ['allow all cookies', { label: 'Allow all cookies' }, true],
    ['OK on a cookie notice', { label: 'OK', context: 'Cookie notice' }, true],
    ['ยอมรับทั้งหมด', { label: 'ยอมรับทั้งหมด', context: 'เว็บไซต์นี้ใช้คุกกี้' }, true],
    ['Alle akzeptieren', { label: 'Alle akzeptieren', context: 'Wir verwenden Cookies' }, true],
    ['a label in look-alike letters', { label: 'Ассерt аll', context: 'We use сookies' }, true],
    ['a label in wide letters', { label: 'Ａｃｃｅｐｔ ａｌｌ', context: 'cookies' }, true],
    ['a label with what cannot be seen in it', { label: 'Ac\u200bce\u00adpt all', context: 'coo\u2060kies' }, true],
    ['a label with accents', { label: 'Áccépt all', context: 'cookies' }, true],
    ['reject all', { label: 'Reject all', context: 'This site uses cookies' }, false],
    ['necessary only', { label: 'Only necessary', context: 'This site uses cookies' }, false],
    ['OK elsewhere', { label: 'OK', context: 'Delete the file?' }, false],
    ['accept an invitation', { label: 'Accept', context: 'Ada invites you' }, false],
    ['a recipe', { label: 'Chocolate cookies' }, false],
  ])('%s', (_name, more, expected) => {
    expect(acceptsConsent(button('b', more))).toBe(expected);
  });

  it('is the owner’s wish when the goal speaks of it', () => {
    expect(goalCoversConsent('Accept the cookies and open the shop')).toBe(true);
    expect(goalCoversConsent('Order a jacket')).toBe(false);
  });
});
