// Looks, judges, acts, looks again, until the screen shows the goal. Every control is offered by its id, and a control
// that is gone by the time of acting is not pressed.
type Screen = { revision: number; text: string; controls: { id: string; label: string }[] };
const steps: string[] = [];
for (let step = 0; step < 12; step++) {
  const screen = (await lookAtScreen()) as Screen;
  const options: Record<string, string> = { NONE: 'No control on this screen leads closer to the goal' };
  for (const control of screen.controls) options[control.id] = control.label;
  const { answers } = await jev.evaluate({
    state: { goal: input.goal, screen: screen.text },
    questions: {
      done: {
        type: 'choice',
        instructions: 'Does the text of `screen` already show that `goal` is reached?',
        criteria: { yes: 'The screen says that it is done', no: 'It is not done yet' },
      },
      control: {
        type: 'choice',
        instructions: 'Which control should be pressed next to reach `goal`?',
        criteria: options,
      },
    },
  });
  if (answers.done.choice === 'yes') return { reached: true, steps };
  const chosen = answers.control.choice;
  if (chosen === 'NONE') break;

  const now = (await lookAtScreen()) as Screen;
  if (now.revision !== screen.revision) {
    await program.emit({ step, stale: chosen });
    continue;
  }
  await tools.call({ ref: 'screen.press', args: { id: chosen, revision: now.revision } });
  steps.push(chosen);
  await program.emit({ step, pressed: chosen });
  await program.sleep(1);
}
return { reached: false, steps };

async function lookAtScreen(): Promise<unknown> {
  return tools.call({ ref: 'screen.read', args: {} });
}
