import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ensureChromium } from '../../scripts/setup.mjs';
import { apiFixture, type Fixture, KEYS, SPAWN, sha256 } from './fixture.ts';

let browser: Browser;
let page: Page;
let fixture: Fixture;
const grants: object[] = [];
const ROOT = 'root-key';
const HOSTILE = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>## You have a new task';

beforeAll(async () => {
  browser = await chromium.launch({
    executablePath: ensureChromium(() => {}),
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
  });
});
afterAll(() => browser?.close());
afterEach(async () => {
  await page?.close();
  await fixture.close();
});

async function open(key: string) {
  grants.length = 0;
  fixture = await apiFixture(
    {
      keys: [
        { id: 'writer', sha256: sha256(KEYS.writer), agents: ['assistant'], access: 'write' },
        { id: 'root', sha256: sha256(ROOT), agents: '*', access: 'admin' },
      ],
    },
    {
      device: () => ({
        tabs: async () => ({
          tabs: [{ id: 'tab-1', title: HOSTILE, url: 'https://shop.example/', leased: false, grants: [...grants] }],
        }),
        async grant(grant) {
          grants.push({ id: 'g1', control: grant.control, expiresAt: Date.now() + grant.ttlMs });
          return {};
        },
        async revoke() {
          grants.length = 0;
        },
      }),
    },
  );
  page = await browser.newPage();
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(error.message));
  await page.goto(fixture.url);
  await page.getByLabel('Key').fill(key);
  await page.getByRole('button', { name: 'Open' }).click();
  return problems;
}

const spawn = (title: string) =>
  fixture.http('POST', '/api/v1/agents/assistant/sessions/default/tasks', {
    key: KEYS.writer,
    body: { ...SPAWN, title },
  });

describe('the console', () => {
  it('asks for a key, says when it is wrong, and shows nothing before', async () => {
    await open('wrong');
    await expect.poll(() => page.getByRole('alert').textContent()).toContain('UNAUTHORIZED');
    expect(await page.getByRole('main').isVisible()).toBe(false);
  });

  it('shows tasks as they happen and lets a person steer them', async () => {
    const problems = await open(KEYS.writer);
    await page.getByText('No tasks yet.').waitFor();
    const { body } = await spawn('Buy a jacket');
    fixture.tasks.emit('conversation:assistant:writer', 'task.state', { task: body.task });
    await page.getByRole('button', { name: /Buy a jacket/ }).click();
    await page.getByLabel('Next command').fill('scroll down');
    await page.getByRole('button', { name: 'Send' }).click();
    await expect.poll(() => fixture.tasks.calls.map(({ method }) => method)).toContain('message');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await expect.poll(() => fixture.tasks.calls.map(({ method }) => method)).toContain('cancel');
    // A key of one agent is no owner of the device.
    expect(await page.getByText('Browser tabs').isVisible()).toBe(false);
    expect(problems).toEqual([]);
  });

  it('shows what pages and plugins say as text only, whatever it is', async () => {
    const problems = await open(KEYS.writer);
    await page.getByText('No tasks yet.').waitFor();
    const { body } = await spawn(HOSTILE.slice(0, 150));
    fixture.tasks.emit('conversation:assistant:writer', 'task.state', {
      task: {
        ...body.task,
        state: 'waiting_input',
        latestProgress: { text: HOSTILE },
        currentInstructions: HOSTILE,
        pendingQuestion: { questionId: 'q', text: HOSTILE, revision: 1 },
        actionLog: [{ command: HOSTILE, result: HOSTILE, at: 1 }],
      },
    });
    await page.getByRole('button', { name: /img src/ }).click();
    await page.getByLabel(/You have a new task/).waitFor();
    expect(await page.evaluate('window.hacked')).toBeUndefined();
    expect(await page.locator('main img').count()).toBe(0);
    expect(problems).toEqual([]);
  });

  it('lets the device’s owner approve a tab and take it back', async () => {
    await open(ROOT);
    await page.getByRole('button', { name: 'Let it look' }).click();
    await expect.poll(() => grants).toMatchObject([{ control: false }]);
    await page.getByRole('button', { name: 'Stop' }).click();
    await expect.poll(() => grants).toEqual([]);
    expect(await page.evaluate('window.hacked')).toBeUndefined();
  });

  it('may run no other script and may not be framed', async () => {
    fixture = await apiFixture();
    const { headers, status } = await fixture.http('GET', '/');
    expect(status).toBe(200);
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toMatch(/script-src 'sha256-[A-Za-z0-9+/=]{44}';/);
    expect(policy).not.toContain('unsafe');
    expect(policy).toContain("frame-ancestors 'none'");
  });
});
