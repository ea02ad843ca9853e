// One judgment per ticket. `other` is there so that a ticket that fits no team is not forced into one.
const routes: ('billing' | 'technical' | 'other')[] = [];
for (const ticket of input) {
  const judgment = await jev.evaluate({
    state: ticket,
    questions: {
      route: {
        type: 'choice',
        instructions: "Which team handles the request in this ticket's text?",
        criteria: {
          billing: 'Invoices, charges and refunds',
          technical: 'Broken software, crashes and errors',
          other: 'None of these teams fits',
        },
      },
    },
  });
  routes.push(judgment.answers.route.choice);
  await program.emit({ processed: routes.length });
}
return routes;
