// Fills a form once for each record with real key input, and reads back what the page shows after each.
await browser.connect();
const { sessionId } = (await browser.cdp({
  method: 'Target.attachToTarget',
  params: { targetId: input.targetId, flatten: true },
})) as { sessionId: string };

async function page(expression: string): Promise<unknown> {
  const { result } = (await browser.cdp({
    method: 'Runtime.evaluate',
    params: { expression, returnByValue: true },
    sessionId,
  })) as { result: { value?: unknown } };
  return result.value;
}

async function type(selector: string, text: string): Promise<void> {
  const field = `document.querySelector(${JSON.stringify(selector)})`;
  await page(`${field}.value = ''; ${field}.focus()`);
  await browser.cdp({ method: 'Input.insertText', params: { text }, sessionId });
  const typed = await page(`${field}.value`);
  if (typed !== text) throw new Error(`${selector} holds something else than what was typed`);
}

let saved = 0;
for (const record of input.records) {
  const before = Number(await page('document.querySelectorAll("li").length'));
  await type('#name', record.name);
  await type('#city', record.city);
  await page('document.querySelector("#save").click()');
  // A record counts when the page shows it, not when the button was pressed.
  let shown = before;
  for (let look = 0; look < 20 && shown === before; look++) {
    shown = Number(await page('document.querySelectorAll("li").length'));
    if (shown === before) await program.sleep(25);
  }
  if (shown !== before + 1) throw new Error(`The page did not take record ${saved + 1}`);
  saved++;
  await program.emit({ saved });
}
const shown = (await page('[...document.querySelectorAll("li")].map((item) => item.textContent)')) as string[];
return { saved, shown };
