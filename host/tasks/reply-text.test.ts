import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { confirmationQuestion, languageOf, replyFor, type Spoken } from './reply-text.ts';

const spoken = (more: Partial<Spoken>) =>
  replyFor({
    words: 'บัว',
    language: 'th',
    outcome: { done: false, reason: 'NO_SUPPORTED_ACTION' },
    unknown: false,
    open: true,
    ...more,
  });

describe('what is said about a command that came to nothing', () => {
  it.each([
    ['STALE_RETRY_BUDGET', 'หน้าจอกำลังเปลี่ยน ลองพูดใหม่อีกครั้ง', 'The screen is changing. Say it again.'],
    ['NO_SUPPORTED_ACTION', 'ไม่เจอปุ่ม บัว บนหน้าจอ', 'I cannot find บัว on the screen.'],
    ['NEW_TAB_OUT_OF_SCOPE', 'เปิดแท็บใหม่ไม่ได้ บอกชื่อเว็บแทน', 'I cannot open a new tab. Say the site’s name instead.'],
    ['JEV_DEADLINE_EXCEEDED', 'ระบบตอบไม่ทัน ลองพูดใหม่อีกครั้ง', 'That took too long. Say it again.'],
    ['SOMETHING_NEW', 'ยังไม่ได้ทำ บัว', 'Not done: บัว.'],
  ])('%s', (reason, th, en) => {
    expect(spoken({ outcome: { done: false, reason } })?.spoken).toBe(th);
    expect(spoken({ outcome: { done: false, reason }, language: 'en' })?.spoken).toBe(en);
  });

  it('names the end that was reached', () => {
    const at = (kind: 'scroll' | 'history', direction: string, reason: string) =>
      spoken({ outcome: { done: false, reason, action: { kind, direction } }, language: 'en' })?.spoken;
    expect(at('scroll', 'up', 'SCROLL_LIMIT')).toBe('This is the top of the page.');
    expect(at('scroll', 'down', 'SCROLL_LIMIT')).toBe('This is the end of the page.');
    expect(at('history', 'back', 'HISTORY_UNAVAILABLE')).toBe('There is no page to go back to.');
    expect(at('history', 'forward', 'HISTORY_UNAVAILABLE')).toBe('There is no page to go forward to.');
  });

  it('is nothing for a command that ran, a question, the start of a session or a no', () => {
    expect(spoken({ outcome: { done: true } })).toBeUndefined();
    for (const reason of ['READ_REQUEST', 'SESSION_READY', 'CONFIRMATION_DECLINED']) {
      expect(spoken({ outcome: { done: false, reason } })).toBeUndefined();
    }
  });

  it('never asks to say it again when the action may have run, or when the task has ended', () => {
    expect(spoken({ words: 'ห้า', unknown: true })?.spoken).toBe('ไม่แน่ใจว่า ห้า ทำไปแล้วหรือยัง ดูหน้าจอก่อนสั่งใหม่');
    expect(spoken({ unknown: true, language: 'en' })?.spoken).not.toMatch(/again/);
    const ended = spoken({ outcome: { done: false, reason: 'STALE_RETRY_BUDGET' }, open: false, language: 'en' });
    expect(ended?.spoken).toContain('a new one is needed');
    expect(ended?.spoken).not.toMatch(/again/);
  });

  it('keeps the user’s words out of the history, whatever they are', () => {
    const word = fc.stringMatching(/^[a-z]{6,12}$/);
    const reasons = fc.constantFrom('NO_SUPPORTED_ACTION', 'UNCLEAR', 'X', 'SCROLL_LIMIT', 'STALE_RETRY_BUDGET');
    fc.assert(
      fc.property(
        word,
        reasons,
        fc.boolean(),
        fc.boolean(),
        fc.constantFrom('th', 'en'),
        (secret, reason, unknown, open, language) => {
          const words = `zq${secret}`;
          const reply = replyFor({
            words,
            language: language as 'th',
            outcome: { done: false, reason },
            unknown,
            open,
          });
          expect(reply?.history).not.toContain(words);
          expect(reply?.history.startsWith(language === 'th' ? 'ยังไม่ได้ทำ คำสั่งนี้' : 'Not done: this command.')).toBe(
            true,
          );
        },
      ),
    );
  });

  it('repeats the user’s words as one short line without fillers', () => {
    expect(spoken({ words: '  เอ่อ บัว\u0007\n ครับ ' })?.spoken).toBe('ไม่เจอปุ่ม บัว บนหน้าจอ');
    expect(spoken({ words: '$& {} $1' })?.spoken).toBe('ไม่เจอปุ่ม $& {} $1 บนหน้าจอ');
    expect(spoken({ words: 'ก'.repeat(500) })?.spoken.length).toBeLessThan(100);
  });
});

describe('its language', () => {
  it('is the command’s, the voice session’s, or the conversation’s', () => {
    expect(languageOf('เลื่อนลง', [], 'en-US')).toBe('th');
    expect(languageOf('Go.', ['สวัสดี'], undefined)).toBe('th');
    expect(languageOf('Go.', ['สวัสดี'], 'en-US')).toBe('en');
    expect(languageOf('Go.', [], 'th-TH')).toBe('th');
    expect(languageOf('Go.', ['สวัสดี', '1', '2', '3', '4', '5'])).toBe('en');
    expect(languageOf('進め', [])).toBe('en');
  });
});

describe('the question before a high-impact command', () => {
  it('names the control in one clean line', () => {
    expect(confirmationQuestion({ kind: 'click', label: 'Quit Google Chrome' }, 'th').spoken).toBe(
      'จะกด Quit Google Chrome ใช่ไหม',
    );
    expect(confirmationQuestion({ kind: 'click', label: 'Quit Google Chrome' }, 'en').spoken).toBe(
      'Press Quit Google Chrome?',
    );
    expect(confirmationQuestion({ kind: 'select', label: 'Size: 42' }, 'en').spoken).toBe('Select Size: 42?');
    const hostile = confirmationQuestion({ kind: 'click', label: `Pay\u202e\n${'x'.repeat(300)}` }, 'en');
    expect(hostile.spoken.length).toBeLessThanOrEqual(90);
    expect(hostile.spoken).not.toMatch(/[\n\u202e]/);
    expect(hostile.history).toBe('Carry out this command?');
  });
});
