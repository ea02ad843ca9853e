/**
 * The grammar as data: every phrase that is read without a decision.
 *
 * A phrase matches only as the whole command, after normalisation. There are deliberately few: anything else, in any
 * language, goes to the decision unchanged.
 */

/** Said before a command and ignored, when a space or comma follows. */
export const LEADING_FILLERS = ['เอ่อ', 'อ่า', 'เอาล่ะ', 'โอเค', 'okay', 'ok'] as const;

/** Politeness at the end of a command, ignored. */
export const TRAILING_PARTICLES = ['ครับ', 'ค่ะ', 'คะ', 'นะ', 'หน่อย', 'จ้า', 'เจ้า'] as const;

export const SCROLL = {
  up: ['scroll up', 'scroll ขึ้น', 'scroll ขึ้นไป', 'เลื่อนขึ้น', 'เลื่อนขึ้นไป'],
  down: ['scroll down', 'scroll ลง', 'scroll ลงมา', 'เลื่อนลง', 'เลื่อนลงมา'],
} as const;
export const BROWSER_SCROLL = {
  up: ['page up'],
  down: ['page down', 'scroll ลงไป', 'เลื่อนลงไป'],
} as const;

/** Names of keys. Each may be said alone or behind a word for pressing. */
export const KEYS = {
  Enter: ['enter', 'return', 'เอ็นเทอร์'],
  Tab: ['tab', 'แท็บ'],
  Escape: ['esc', 'escape'],
  ArrowUp: ['up', 'arrow up', 'ลูกศรขึ้น'],
  ArrowDown: ['down', 'arrow down', 'ลูกศรลง'],
  ArrowLeft: ['left', 'arrow left', 'ลูกศรซ้าย'],
  ArrowRight: ['right', 'arrow right', 'ลูกศรขวา'],
} as const;

export const PRESS = ['กด', 'press '] as const;

export const BACK = ['back', 'go back', 'ย้อนกลับ', 'ย้อนกลับไป', 'กลับหน้าก่อน', 'กลับไปหน้าก่อน', 'previous page'] as const;
export const BROWSER_BACK = ['กลับ', 'กลับไป', 'ย้อน', 'ถอยกลับ', 'หน้าก่อนหน้า', 'กดย้อนกลับ', 'press back'] as const;
export const FORWARD = ['forward', 'go forward', 'ไปข้างหน้า', 'ไปหน้าถัดไป'] as const;
export const BROWSER_FORWARD = ['next page'] as const;

export const NEW_TAB = [
  'new tab',
  'open new tab',
  'open a new tab',
  'เปิด tab ใหม่',
  'เปิดแท็บใหม่',
  'tab ใหม่',
  'แท็บใหม่',
] as const;
export const NEW_WINDOW = ['new window', 'open new window', 'open a new window', 'เปิดหน้าต่างใหม่', 'หน้าต่างใหม่'] as const;
export const CLOSE_TAB = ['close tab', 'close this tab', 'ปิด tab', 'ปิดแท็บ'] as const;
export const CLOSE_WINDOW = ['close window', 'close the window', 'ปิดหน้าต่าง'] as const;

/** Followed by words to look for; the text is typed and sent. `joins`: Thai that may be written without a space. */
export const SEARCH_VERBS = [
  { word: 'search for', joins: false },
  { word: 'search', joins: false },
  { word: 'ค้นหา', joins: true },
  { word: 'ค้น', joins: false },
] as const;

/** Followed by text to type, never sent. */
export const TYPE_VERBS = [
  { word: 'type', joins: false },
  { word: 'พิมพ์', joins: true },
  { word: 'กรอก', joins: false },
] as const;

/** A text that names where it goes is not only text: the decision reads the whole command. */
export const DESTINATION = /\s(?:in|into|on)\s|\sใน|ในช่อง|ที่ช่อง/i;

/** Followed by a known site or an address. Longer ones first. */
export const OPEN_VERBS = [
  'เข้าไปที่เว็บ',
  'เข้าไปที่',
  'เข้าไป',
  'เข้าที่',
  'เข้าเว็บ',
  'เข้า',
  'เปิดเว็บ',
  'เปิด',
  'ไปที่',
  'ไป',
  'go to',
  'open',
  'visit',
] as const;

/** Sites that are known by name, only behind a verb of opening. */
export const SITES: Readonly<Record<string, string>> = {
  google: 'google.com',
  กูเกิล: 'google.com',
  youtube: 'youtube.com',
  ยูทูป: 'youtube.com',
  facebook: 'facebook.com',
  เฟสบุ๊ค: 'facebook.com',
  gmail: 'mail.google.com',
  github: 'github.com',
  x: 'x.com',
  twitter: 'x.com',
  instagram: 'instagram.com',
  tiktok: 'tiktok.com',
  wikipedia: 'wikipedia.org',
  chatgpt: 'chatgpt.com',
  pantip: 'pantip.com',
  shopee: 'shopee.co.th',
  lazada: 'lazada.co.th',
};

/** Labels that a calculator's button may carry for what was said. */
export const OPERATORS: readonly { said: readonly string[]; labels: readonly string[] }[] = [
  { said: ['บวก', 'plus', 'add', '+'], labels: ['add', 'plus', '+'] },
  { said: ['ลบ', 'minus', 'subtract', '-', '−'], labels: ['subtract', 'minus', '−', '-'] },
  { said: ['คูณ', 'times', 'multiply', '×', '*'], labels: ['multiply', 'times', '×', '*'] },
  { said: ['หาร', 'divide', 'divided by', '÷', '/'], labels: ['divide', '÷', '/'] },
  { said: ['เท่ากับ', 'equals', 'equal', '='], labels: ['equals', 'equal', '='] },
  { said: ['เคลียร์', 'clear', 'all clear', 'ac'], labels: ['clear', 'all clear', 'ac', 'c'] },
];

export const DIGITS: Readonly<Record<string, number>> = {
  ศูนย์: 0,
  หนึ่ง: 1,
  สอง: 2,
  สาม: 3,
  สี่: 4,
  ห้า: 5,
  หก: 6,
  เจ็ด: 7,
  แปด: 8,
  เก้า: 9,
  zero: 0,
  one: 1,
  two: 2,
  three: 3,
  four: 4,
  five: 5,
  six: 6,
  seven: 7,
  eight: 8,
  nine: 9,
};

export const MULTIPLIERS: Readonly<Record<string, number>> = {
  ล้าน: 1_000_000,
  แสน: 100_000,
  หมื่น: 10_000,
  พัน: 1000,
  ร้อย: 100,
  สิบ: 10,
};
