/**
 * Pages that only a person may pass: sign-in walls, captchas, consent banners. They are recognised so that the parent is
 * told which it is. Nothing here gets past one.
 *
 * Threat: a page may pretend to be a wall to stop a run; the run then stops without harm. A page may also hide that it is
 * one; then its sensitive fields are still never offered, and an acceptance of cookies is still withheld by its label.
 */
import { normalLabel, seenText } from './labels.ts';
import { inView, type Observation, type ObservedElement, pageText } from './observation.ts';

export type Wall = 'AUTH_REQUIRED' | 'CAPTCHA_REQUIRED' | 'CONSENT_BANNER';

/** Characters of text up to which a page counts as nothing but its form or its challenge. */
const BARE_PAGE_TEXT = 1500;

const signInWords =
  /\b(?:sign|log)[\s-]?(?:in|on)\b|\bauthenticat|session (?:has )?expired|เข้าสู่ระบบ|ล็อกอิน|anmelden|einloggen|connexion|se connecter|iniciar sesi[oó]n|accedi|ログイン|サインイン|登录|登入|로그인/iu;
const signUpWords =
  /\b(?:sign[\s-]?up|register|create (?:an |your )?account)\b|สมัครสมาชิก|ลงทะเบียน|registrieren|s'inscrire|registrarse|新規登録|注册|회원가입/iu;
const signInPath = /\/(?:log-?in|sign-?in|signon|auth|sso|session\/new|users\/sign_in|accounts?\/login)(?:[/?#.]|$)/iu;

const captchaWords =
  /captcha|i['’]?m not a robot|i am not a robot|verify (?:that )?you(?:'re| are) (?:a )?human|are you a robot|unusual traffic|checking your browser|ยืนยันว่าคุณไม่ใช่บอท|ฉันไม่ใช่โปรแกรมอัตโนมัติ|ich bin kein roboter|je ne suis pas un robot|no soy un robot|私はロボットではありません|我不是机器人|人机验证/iu;

/** Characters of the longest label that would be a button of acceptance. */
const MAX_ACCEPT_LABEL = 80;
const consentSubject = /cookie|consent|gdpr|privacy (?:choices|preferences)|คุกกี้|ความยินยอม|einwilligung|クッキー|隐私/iu;
const consentAccept =
  /^(?:i )?(?:accept|agree|allow|consent|ok|okay|got it|enable)(?: (?:to )?(?:all|cookies|all cookies|and (?:continue|close)|recommended))*$|^ยอมรับ|^ตกลง|^อนุญาต|^alle akzeptieren$|^(?:alles? )?(?:akzeptieren|zustimmen)$|^tout accepter$|^j['’]accepte$|^aceptar|^accetta|^同意|^すべて同意|^全部接受|^接受/iu;

/** Whether the goal itself speaks of consent: then accepting is what the owner asked for. */
export function goalCoversConsent(goal: string): boolean {
  return consentSubject.test(goal);
}

/** A control that would accept tracking or cookies for the owner. Its context must speak of consent too. */
export function acceptsConsent(element: ObservedElement): boolean {
  const label = seenText(element.label).trim();
  // Most controls of most pages: said first, because every control of every page is asked.
  if (label.length > MAX_ACCEPT_LABEL) return false;
  if (/accept|agree|allow/iu.test(label) && consentSubject.test(label)) return true;
  return consentAccept.test(normalLabel(label)) && consentSubject.test(seenText(element.context ?? ''));
}

/** A control of a captcha; ticking one says something that is not true. */
export function belongsToCaptcha(element: ObservedElement): boolean {
  return captchaWords.test(seenText(element.label));
}

/** A page that is nothing but a wall: the run stops before it pays for a decision. */
export function wallInTheWay(page: Observation): Wall | undefined {
  if (isCaptchaPage(page)) return 'CAPTCHA_REQUIRED';
  if (isSignInPage(page)) return 'AUTH_REQUIRED';
  return undefined;
}

/** What in view explains a stop for which the run itself has no better reason. */
export function wallBehindStop(page: Observation): Wall | undefined {
  const wall = wallInTheWay(page);
  if (wall) return wall;
  if (captchaWords.test(seenText(pageText(page))) || page.elements.some((e) => inView(e) && belongsToCaptcha(e))) {
    return 'CAPTCHA_REQUIRED';
  }
  if (passwordField(page) && !signUpWords.test(page.title)) return 'AUTH_REQUIRED';
  if (page.elements.some((element) => inView(element) && acceptsConsent(element))) return 'CONSENT_BANNER';
  return undefined;
}

function passwordField(page: Observation): ObservedElement | undefined {
  return page.elements.find((element) => inView(element) && element.sensitive && element.type === 'password');
}

function isSignInPage(page: Observation): boolean {
  if (!passwordField(page)) return false;
  const path = page.url.replace(/^https?:\/\/[^/]*/u, '');
  if (signInPath.test(path)) return true;
  if (signUpWords.test(page.title) || pageText(page).length > BARE_PAGE_TEXT) return false;
  return signInWords.test(seenText(page.title)) || signInWords.test(seenText(pageText(page).slice(0, 300)));
}

function isCaptchaPage(page: Observation): boolean {
  const text = pageText(page);
  if (text.length > BARE_PAGE_TEXT) return false;
  const usable = page.elements.filter((element) => inView(element) && element.operations.length > 0);
  const other = usable.filter((element) => !belongsToCaptcha(element));
  if (usable.length > other.length) return other.every((element) => !element.operations.includes('TYPE_TEXT'));
  return captchaWords.test(seenText(`${page.title}\n${text}`)) && other.length === 0;
}
