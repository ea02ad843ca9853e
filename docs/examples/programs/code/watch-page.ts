// Watches a page until its status text says that something needs a person, then presses the button that calls one.
await browser.connect();
const attached = (await browser.cdp({
  method: 'Target.attachToTarget',
  params: { targetId: input.targetId, flatten: true },
})) as { sessionId: string };
const { sessionId } = attached;

async function read(expression: string): Promise<unknown> {
  const { result } = (await browser.cdp({
    method: 'Runtime.evaluate',
    params: { expression, returnByValue: true },
    sessionId,
  })) as { result: { value?: unknown } };
  return result.value;
}

let last = '';
for (let round = 1; round <= input.rounds; round++) {
  const status = String((await read('document.querySelector("#status")?.textContent')) ?? '');
  // The same text needs no second judgment, and a page that is not there yet needs none.
  if (status !== '' && status !== last) {
    last = status;
    await program.emit({ round, status });
    const { answers } = await jev.evaluate({
      state: { status },
      questions: {
        alarm: {
          type: 'choice',
          instructions: 'Does `status` report a failure that needs a person now?',
          criteria: { alarm: 'A failure, an error, something broken', calm: 'Everything is normal or in progress' },
        },
      },
    });
    if (answers.alarm.choice === 'alarm') {
      // The page may have moved on while Jev thought: act only on what was judged.
      if ((await read('document.querySelector("#status")?.textContent')) !== status) continue;
      await read('document.querySelector("#call").click()');
      const called = (await read('document.querySelector("#called").textContent')) === 'called';
      return { status, rounds: round, pressed: called };
    }
  }
  await program.sleep(input.everyMs);
}
return { rounds: input.rounds, pressed: false };
