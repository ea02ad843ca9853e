// Reads all items in parallel, judges them together in one request, and labels them in parallel.
type Item = { id: string; text: string };
const items = (await Promise.all(input.ids.map((id) => queue.read({ id })))) as Item[];
await program.emit({ read: items.length });

// Questions of one request are independent, so one request judges the whole queue.
const questions = Object.fromEntries(
  items.map((item) => [
    item.id,
    {
      type: 'choice' as const,
      instructions: `How soon must the item with this text be handled? Text: ${JSON.stringify(item.text)}`,
      criteria: { urgent: 'People are blocked, money or data is lost', later: 'It can wait for the next working day' },
    },
  ]),
);
const { answers } = await jev.evaluate({ state: { items: items.length }, questions });

const urgent = items.filter((item) => answers[item.id]?.choice === 'urgent').map((item) => item.id);
const later = items.map((item) => item.id).filter((id) => !urgent.includes(id));
await Promise.all(
  items.map((item) => queue.label({ id: item.id, label: urgent.includes(item.id) ? 'urgent' : 'later' })),
);
return { urgent, later };
