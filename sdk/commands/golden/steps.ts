/** Messages and the steps they are split into; none means that the message is one ordinary command. */
const list = (count: number) => Array.from({ length: count }, (_, index) => `${index + 1}. press enter`).join('\n');

export const goldenSteps: readonly { about: string; message: string; steps?: readonly string[] }[] = [
  {
    about: 'Thai commas',
    message: 'เปิด tab ใหม่, เข้า google, ค้น cats, เข้า link แรก, scroll ลงมา',
    steps: ['เปิด tab ใหม่', 'เข้า google', 'ค้น cats', 'เข้า link แรก', 'scroll ลงมา'],
  },
  {
    about: 'two spaces behind commas',
    message: 'เปิด tab ใหม่,  เข้า google,  ค้น cats,  เข้า link แรก,  scroll ลงมา',
    steps: ['เปิด tab ใหม่', 'เข้า google', 'ค้น cats', 'เข้า link แรก', 'scroll ลงมา'],
  },
  {
    about: 'Thai connectors joined to the next word',
    message: 'เข้า pantip แล้วเลื่อนลง จากนั้นกด enter',
    steps: ['เข้า pantip', 'เลื่อนลง', 'กด enter'],
  },
  {
    about: 'longer Thai connectors',
    message: 'เข้า pantip แล้วก็เลื่อนลง จากนั้นก็กด enter',
    steps: ['เข้า pantip', 'เลื่อนลง', 'กด enter'],
  },
  {
    about: 'dots and parentheses mixed',
    message: '1. open github\n2) search vitest\n3. scroll down',
    steps: ['open github', 'search vitest', 'scroll down'],
  },
  {
    about: 'numbers on one line',
    message: '1. open github 2. search vitest 3. scroll down',
    steps: ['open github', 'search vitest', 'scroll down'],
  },
  {
    about: 'numbers on one line behind a header',
    message: 'Steps: 1. open github 2. search vitest 3. scroll down',
    steps: ['open github', 'search vitest', 'scroll down'],
  },
  { about: 'Thai digits', message: '๑. เข้า google\n๒. ค้นหา แมว', steps: ['เข้า google', 'ค้นหา แมว'] },
  { about: 'bullets', message: '- open lazada\n- scroll down', steps: ['open lazada', 'scroll down'] },
  {
    about: 'stars and dots as bullets',
    message: '* open lazada\n• scroll down',
    steps: ['open lazada', 'scroll down'],
  },
  { about: 'comma and then', message: 'open lazada, then scroll down', steps: ['open lazada', 'scroll down'] },
  { about: 'and then', message: 'open lazada and then scroll down', steps: ['open lazada', 'scroll down'] },
  {
    about: 'a leading and',
    message: 'open lazada, search bags, and scroll down.',
    steps: ['open lazada', 'search bags', 'scroll down'],
  },
  {
    about: 'a quotation with comma and connector',
    message: 'type "milk, then eggs", press enter',
    steps: ['type "milk, then eggs"', 'press enter'],
  },
  {
    about: 'curly quotation',
    message: 'พิมพ์ “นม, ไข่ แล้วขนมปัง”, กด enter',
    steps: ['พิมพ์ “นม, ไข่ แล้วขนมปัง”', 'กด enter'],
  },
  {
    about: 'a number with a comma',
    message: 'search 1,000 piece puzzle, press enter',
    steps: ['search 1,000 piece puzzle', 'press enter'],
  },
  {
    about: 'a price with a comma',
    message: 'open 3,500 baht page, scroll down',
    steps: ['open 3,500 baht page', 'scroll down'],
  },
  {
    about: 'a host that begins like a connector',
    message: 'open thenews.example.com, then scroll down',
    steps: ['open thenews.example.com', 'scroll down'],
  },
  {
    about: 'role, header, five items, one with a connector and a shortcut, pacing note',
    message:
      'คุณกำลังช่วยซื้อของออนไลน์\n\nขั้นตอน:\n1. เปิด Chrome แล้วกดแท็บใหม่ (Cmd+T)\n2. เข้า lazada\n3. ค้นหา รองเท้า\n4. เข้า link แรก\n5. เลื่อนลง\n\nเริ่มจากขั้นตอนที่ 1',
    steps: ['เปิด Chrome แล้วกดแท็บใหม่ (Cmd+T)', 'เข้า lazada', 'ค้นหา รองเท้า', 'เข้า link แรก', 'เลื่อนลง'],
  },
  {
    about: 'English role, header, five items, one with a quoted comma, pacing note',
    message:
      'You are shopping for a friend.\n\nSteps:\n1. open lazada\n2. type "bags, blue"\n3. press enter\n4. open the first result\n5. scroll down\n\nPlease start with step 1.',
    steps: ['open lazada', 'type "bags, blue"', 'press enter', 'open the first result', 'scroll down'],
  },
  {
    about: 'full-width colon',
    message: 'ทำดังนี้：\n1) เข้า google\n2) ค้นหา แมว\n3) เลื่อนลง\nDo them one by one',
    steps: ['เข้า google', 'ค้นหา แมว', 'เลื่อนลง'],
  },
  {
    about: 'an unrelated sentence before bullets',
    message: 'Here is what I need today\n- open shopee\n- search lamps\n\nทำทีละขั้น',
    steps: ['open shopee', 'search lamps'],
  },
  {
    about: 'role, header, one line of five',
    message: 'คุณคือผู้ช่วยค้นข้อมูล\n\nทำตามนี้:\n\nเข้า google, ค้นหา แมว, เข้า link แรก, เลื่อนลง, ย้อนกลับ\n\nเริ่มที่ขั้นที่ 1',
    steps: ['เข้า google', 'ค้นหา แมว', 'เข้า link แรก', 'เลื่อนลง', 'ย้อนกลับ'],
  },
  {
    about: 'role paragraph, comma line, pacing note with words behind it',
    message: 'You are testing a shop.\n\nopen lazada, search bags then scroll down\nstart with step 1: open the shop',
    steps: ['open lazada', 'search bags', 'scroll down'],
  },
  {
    about: 'role sentence on the same line',
    message: "You're testing a shop. open lazada, scroll down",
    steps: ['open lazada', 'scroll down'],
  },
  {
    about: 'header and one command a line',
    message: 'Do this:\nopen lazada\nsearch bags\nscroll down\n\none step at a time',
    steps: ['open lazada', 'search bags', 'scroll down'],
  },
  { about: 'inline header', message: 'ทำตามขั้นตอนนี้ทีละขั้น: เข้า google, ค้นหา แมว', steps: ['เข้า google', 'ค้นหา แมว'] },
  {
    about: 'an address is no header',
    message: 'https://example.com/a, scroll down',
    steps: ['https://example.com/a', 'scroll down'],
  },
  {
    about: 'a time is no header',
    message: 'search trains at 10: 30 tonight, scroll down',
    steps: ['search trains at 10: 30 tonight', 'scroll down'],
  },
  { about: 'a verb is no header', message: 'search: cats, scroll down', steps: ['search: cats', 'scroll down'] },
  {
    about: 'Chinese commas',
    message: 'open lazada，scroll down、press enter',
    steps: ['open lazada', 'scroll down', 'press enter'],
  },
  { about: 'twelve items', message: list(12), steps: Array.from({ length: 12 }, () => 'press enter') },
  {
    about: 'a condition inside a quotation',
    message: 'type "what if", press enter',
    steps: ['type "what if"', 'press enter'],
  },
  {
    about: 'Windows line ends',
    message: '1. open lazada\r\n2. scroll down\r\n',
    steps: ['open lazada', 'scroll down'],
  },

  { about: 'a word that ends in แล้ว', message: 'โหลดเสร็จแล้ว กดปุ่มถัดไป' },
  { about: 'a condition before the list', message: 'If the shop is closed, stop.\n\n1. open lazada\n2. scroll down' },
  { about: 'a sentence behind the list', message: '1. open lazada\n2. scroll down\n\nThank you for the help' },
  { about: 'a bullet between numbers', message: '1. open lazada\n  - scroll down\n2. press enter' },
  {
    about: 'two numbered lists',
    message: 'First:\n1. open lazada\n2. scroll down\nSecond:\n1. open shopee\n2. scroll down',
  },
  { about: 'two comma lists', message: 'First:\nopen lazada, scroll down\nSecond:\nopen shopee, scroll down' },
  { about: 'thirteen items', message: list(13) },
  { about: 'thirteen steps by commas', message: Array.from({ length: 13 }, () => 'press enter').join(', ') },
  { about: 'a step of 301 characters', message: `open lazada, search ${'a'.repeat(294)}` },
  { about: 'an empty item', message: '1. open lazada\n2.\n3. scroll down' },
  { about: 'a gap in the numbers', message: '1. open lazada\n3. scroll down' },
  { about: 'numbers that start at two', message: '2. open lazada\n3. scroll down' },
  { about: 'one command', message: 'open lazada' },
  { about: 'one item', message: '1. open lazada' },
  { about: 'only a pacing note', message: 'start with step 1' },
  { about: 'a later part that begins with if', message: 'open lazada, if it loads scroll down' },
  { about: 'a conditional English list', message: 'if the button shows, click it, then stop' },
  { about: 'a Thai condition', message: 'ถ้ามีปุ่ม ให้กด, เลื่อนลง' },
  { about: 'until', message: 'open lazada, scroll down until the end' },
  { about: 'a conditional item', message: '1. open lazada\n2. when it loads, scroll down' },
  { about: 'two paragraphs without a header', message: 'open lazada, scroll down\n\nopen shopee, scroll down' },
  { about: 'over 4,000 characters', message: `open lazada, ${'scroll down '.repeat(400)}` },
  { about: 'nothing', message: '' },
  { about: 'a header alone', message: 'Steps:' },
];

export const goldenParts: readonly { step: string; parts: readonly string[] }[] = [
  { step: 'open maps', parts: ['open maps'] },
  { step: 'เปิด Chrome แล้วกด Cmd+T', parts: ['เปิด Chrome', 'กด Cmd+T'] },
  { step: 'open Chrome then press Cmd+T and then search cats', parts: ['open Chrome', 'press Cmd+T', 'search cats'] },
  { step: 'พิมพ์ "มา แล้วไป" จากนั้นกด enter', parts: ['พิมพ์ "มา แล้วไป"', 'กด enter'] },
  { step: 'open thenews.example.com', parts: ['open thenews.example.com'] },
  { step: 'รอจนเสร็จแล้ว', parts: ['รอจนเสร็จแล้ว'] },
  { step: 'ค้นหา ข้าว, แกง', parts: ['ค้นหา ข้าว, แกง'] },
];
