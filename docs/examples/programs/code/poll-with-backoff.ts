// Asks until the order is ready. Waits twice as long after each failure, and starts small again after each answer.
const SHORTEST_MS = 10;
const LONGEST_MS = 400;
let pause = SHORTEST_MS;
for (let attempt = 1; attempt <= 20; attempt++) {
  try {
    const { state } = (await orders.status({ order: input.order })) as { state: string };
    await program.emit({ attempt, state });
    if (state === 'ready') return { state: 'ready', attempts: attempt };
    pause = SHORTEST_MS;
  } catch (error) {
    await program.emit({ attempt, failed: String(error), waitMs: pause });
    pause = Math.min(LONGEST_MS, pause * 2);
  }
  await program.sleep(pause);
}
return { state: 'given_up', attempts: 20 };
