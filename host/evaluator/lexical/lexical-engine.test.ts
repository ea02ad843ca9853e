import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { validateAnswer } from '../../../core/jev/answer-validation.ts';
import { validateRequest } from '../../../core/jev/request-validation.ts';
import { createBookshop } from '../../../test/evaluator/bookshop.ts';
import { drive, requestFor } from '../../../test/evaluator/drive.ts';
import { content, key, question, request } from '../../../test/jev/arbitraries.ts';
import { decide } from './lexical-engine.ts';

const limits = { maxInputBytes: 1_000_000, maxQuestions: 64, images: { enabled: false, maxImageBytes: 0 } };

describe('the lexical engine', () => {
  it('carries a whole order on a shop that it was not written with', () => {
    const shop = createBookshop();
    const steps = drive(shop, {
      goal: 'Search for "The Salt Road", open The Salt Road, choose the Paperback format, put it in the bag, checkout, fill in the address with country Portugal, continue to payment and place the order.',
      fields: [
        { label: 'Find a book', text: 'The Salt Road' },
        { label: 'Recipient', text: 'Ines Prado' },
        { label: 'Street', text: 'Rua das Flores 4' },
        { label: 'Town', text: 'Porto' },
      ],
      maxSteps: 30,
    });
    expect(steps.at(-1), steps.join(' > ')).toBe('DONE');
    expect(shop.orders, steps.join(' > ')).toHaveLength(1);
    expect(shop.orders[0]).toMatchObject({
      book: 'The Salt Road',
      format: 'Paperback',
      country: 'Portugal',
      fields: { Recipient: 'Ines Prado', Street: 'Rua das Flores 4', Town: 'Porto' },
    });
  });

  it('finds its way when the goal names the thing and not the steps', () => {
    const shop = createBookshop();
    const steps = drive(shop, {
      goal: 'Buy The Salt Road as a hardback and have it sent to Denmark. Search first, then order it.',
      fields: [
        { label: 'Find a book', text: 'salt road' },
        { label: 'Recipient', text: 'Ines Prado' },
        { label: 'Street', text: 'Vestergade 4' },
        { label: 'Town', text: 'Aarhus' },
      ],
      maxSteps: 30,
    });
    expect(shop.orders[0], steps.join(' > ')).toMatchObject({
      book: 'The Salt Road',
      format: 'Hardback',
      country: 'Denmark',
    });
    expect(steps.at(-1)).toBe('DONE');
  });

  it('scrolls on before it guesses when nothing in view bears the goal’s words', () => {
    const page = {
      url: 'https://shop.example/delivery',
      title: 'Delivery',
      text: 'Full name',
      elements: [
        { ref: 'e1', label: 'Basket (1)', role: 'link', operations: ['CLICK' as const] },
        {
          ref: 'e2',
          label: 'Full name',
          role: 'textbox',
          operations: ['CLICK' as const, 'TYPE_TEXT' as const],
          value: 'A',
        },
      ],
    };
    const past = ['Add to basket', 'Go to checkout'].map((target) => ({
      operation: 'CLICK',
      target,
      page_changed: true,
    }));
    const wish = {
      goal: 'Add the hat to the basket, go to checkout, fill in the form and place the order',
      fields: [{ label: 'Full name', text: 'A' }],
      maxSteps: 1,
    };
    const made = requestFor(page, wish, [], past);
    made.state.page.scroll = { up: false, down: true };
    Object.assign(made.questions.operation.criteria, { SCROLL_DOWN: 'Show what is below.' });
    expect(decide(made).operation).toMatchObject({ choice: 'SCROLL_DOWN' });
  });

  it('answers any request with answers that the service accepts', () => {
    fc.assert(
      fc.property(request, ({ state, questions }) => {
        const { plan } = validateRequest({ state, questions }, limits);
        const answers = decide({ model: 'jev-1.13.0', state, questions });
        const body = { model: 'm', answers, usage: { input_tokens: 1, output_tokens: 1 } };
        expect(() => validateAnswer(body, { plan, requestedModel: 'm', wireRequestId: 'w' })).not.toThrow();
      }),
    );
  });

  it('does not look at the ids of questions that are no controller’s', () => {
    fc.assert(
      fc.property(content, question, key, (state, asked, id) => {
        const named = decide({ model: 'm', state, questions: { a: asked } });
        const renamed = decide({ model: 'm', state, questions: { [id]: asked } });
        expect(renamed[id]).toEqual(named.a);
      }),
    );
  });

  it('does not end while a supplied field waits, even on a page that says thank you', () => {
    const page = {
      url: 'https://site.example/newsletter',
      title: 'Thank you for your interest',
      text: 'Thank you. Your order number follows once you have filled in this form.',
      elements: [
        {
          ref: 'e1',
          label: 'Your email',
          role: 'textbox',
          operations: ['CLICK' as const, 'TYPE_TEXT' as const],
          value: '',
        },
        { ref: 'e2', label: 'Submit', role: 'button', operations: ['CLICK' as const] },
      ],
    };
    const wish = {
      goal: 'Fill in the form and submit it',
      fields: [{ label: 'Your email', text: 'a@b.example' }],
      maxSteps: 1,
    };
    const past = [{ operation: 'CLICK', target: 'Start', role: 'link', page_changed: true }];
    const answers = decide(requestFor(page, wish, past, []));
    expect(answers.operation).toMatchObject({ choice: 'TYPE_TEXT' });
    expect(answers.type_text_target).toMatchObject({ choice: 'e1' });
  });

  it('has no place in a picture to offer and says so', () => {
    const answers = decide({
      model: 'm',
      state: 'x',
      questions: { where: { type: 'box', instructions: 'the button' } },
    });
    expect(answers.where).toEqual({ type: 'box', box: { top: 0, bottom: 1, left: 0, right: 1 }, confidence: 0 });
  });
});

describe('a form whose end is out of view', () => {
  const page = (more: { ref: string; label: string; role: string; operations: 'CLICK'[] }[]) => ({
    url: 'https://site.example/delivery',
    title: 'Delivery',
    text: 'Where shall we send it?',
    scroll: { up: more.length > 0, down: more.length === 0 },
    elements: [
      { ref: 'e1', label: 'Bag (1)', role: 'link', operations: ['CLICK' as const] },
      {
        ref: 'e2',
        label: 'Recipient',
        role: 'textbox',
        operations: ['CLICK' as const, 'TYPE_TEXT' as const],
        value: 'Ines',
      },
      ...more,
    ],
  });
  const wish = {
    goal: 'Put the book in the bag, fill in the address and place the order',
    fields: [{ label: 'Recipient', text: 'Ines' }],
    maxSteps: 1,
  };
  const past = [{ operation: 'TYPE_TEXT', target: 'Recipient', role: 'textbox', text: 'Ines', page_changed: true }];

  it('is scrolled to its end, not left by the nearest link', () => {
    expect(decide(requestFor(page([]), wish, past, [])).operation).toMatchObject({ choice: 'SCROLL_DOWN' });
  });

  it('is sent off once its end is in view', () => {
    const end = [{ ref: 'e3', label: 'Place order', role: 'button', operations: ['CLICK' as const] as 'CLICK'[] }];
    const answers = decide(requestFor(page(end), wish, past, []));
    expect(answers.operation).toMatchObject({ choice: 'CLICK' });
    expect(answers.click_target).toMatchObject({ choice: 'e3' });
  });
});
