/**
 * A site that the lexical engine was not written with: another trade, other words, radios instead of a list, an address
 * step and a payment step. It lives in memory and is driven the way a controller drives a page.
 */
export interface Control {
  ref: string;
  label: string;
  role: string;
  operations: ('CLICK' | 'TYPE_TEXT' | 'SELECT')[];
  context?: string;
  value?: string;
  checked?: boolean;
  options?: { ref: string; label: string; selected: boolean }[];
}
export interface Page {
  url: string;
  title: string;
  text: string;
  elements: Control[];
  /** Whether there is more above or below; none where it is left out. */
  scroll?: { up: boolean; down: boolean };
}

interface Book {
  title: string;
  author: string;
  about: string;
}
const books: Book[] = [
  { title: 'The Salt Road', author: 'M. Okafor', about: 'A journey across a desert with a map that is wrong.' },
  { title: 'Salt', author: 'E. Lindgren', about: 'A history of a mineral.' },
  { title: 'The Road Home', author: 'P. Tran', about: 'Letters from a lighthouse.' },
];
const countries = ['Austria', 'Belgium', 'Denmark', 'Portugal'];

export interface Order {
  book: string;
  format: string;
  country: string;
  fields: Record<string, string>;
}

export function createBookshop() {
  let url = '/';
  let query = '';
  let book: Book | undefined;
  let format = '';
  let problem = '';
  let bag: { book: Book; format: string }[] = [];
  const values: Record<string, string> = {};
  let country = '';
  const orders: Order[] = [];
  let refs = 0;

  const control = (
    label: string,
    role: string,
    operations: Control['operations'],
    more: Partial<Control> = {},
  ): Control => ({
    ref: `e${refs++}`,
    label,
    role,
    operations,
    ...more,
  });
  const link = (label: string, context?: string): Control =>
    control(label, 'link', ['CLICK'], context ? { context } : {});
  const button = (label: string, context?: string): Control =>
    control(label, 'button', ['CLICK'], context ? { context } : {});
  const field = (label: string): Control =>
    control(label, 'textbox', ['CLICK', 'TYPE_TEXT'], { value: values[label] ?? '' });

  const header = (): Control[] => [
    link('Tidewater Books'),
    link('New arrivals'),
    link('Gift cards'),
    link(`Bag (${bag.length})`),
    control('Find a book', 'searchbox', ['CLICK', 'TYPE_TEXT'], { value: values['Find a book'] ?? '' }),
    button('Go'),
  ];
  const footer = (): Control[] => [link('Help'), link('Shipping and returns'), button('Sign up for the newsletter')];

  const bodies: Record<string, () => { title: string; text: string; elements: Control[] }> = {
    '/': () => ({ title: 'Tidewater Books', text: 'Books by post. Free delivery above 40.', elements: [] }),
    '/find': () => ({
      title: `Found for ${query}`,
      text: books.map((entry) => `${entry.title} by ${entry.author}`).join('. '),
      elements: books.flatMap((entry) => [
        link(entry.title, `${entry.title} ${entry.author} ${entry.about}`),
        button('Save for later', `${entry.title} ${entry.author} ${entry.about}`),
      ]),
    }),
    '/book': () => ({
      title: book?.title ?? '',
      text: `${book?.title} by ${book?.author}. ${book?.about} Choose a format. ${problem}`,
      elements: [
        ...['Hardback', 'Paperback', 'Audiobook'].map((name) =>
          control(name, 'radio', ['CLICK'], { context: 'Format', checked: format === name }),
        ),
        button('Put in bag'),
        button('Save for later'),
        link('More by this author'),
      ],
    }),
    '/bag': () => ({
      title: 'Your bag',
      text: bag.length ? bag.map((line) => `${line.book.title}, ${line.format}`).join('. ') : 'Your bag is empty.',
      elements: bag.length ? [button('Remove', bag[0]?.book.title), link('Keep browsing'), button('Checkout')] : [],
    }),
    '/address': () => ({
      title: 'Where should it go?',
      text: `Step 1 of 2: address. ${problem}`,
      elements: [
        field('Recipient'),
        field('Street'),
        field('Town'),
        field('Gift message (optional)'),
        control('Country', 'combobox', ['SELECT'], {
          value: country,
          options: countries.map((name, index) => ({ ref: `o${index}`, label: name, selected: country === name })),
        }),
        button('Continue to payment'),
        link('Back to bag'),
      ],
    }),
    '/payment': () => ({
      title: 'Payment',
      text: `Step 2 of 2: payment by invoice. ${problem}`,
      elements: [link('Change address'), button('Place your order')],
    }),
    '/done': () => ({
      title: 'Thank you',
      text: `Thank you. We have received your order number ${orders.length}.`,
      elements: [link('Continue shopping')],
    }),
  };

  function page(): Page {
    refs = 0;
    const body = bodies[url]?.() ?? { title: 'Not found', text: '', elements: [] };
    const end = url === '/done' ? [] : footer();
    return {
      url: `https://books.example${url}`,
      title: body.title,
      text: body.text,
      elements: [...header(), ...body.elements, ...end],
    };
  }

  function click(label: string, context = ''): void {
    problem = '';
    if (label === 'Go') {
      query = values['Find a book'] ?? '';
      url = '/find';
    } else if (books.some((entry) => entry.title === label)) {
      book = books.find((entry) => entry.title === label);
      format = '';
      url = '/book';
    } else if (context === 'Format') format = label;
    else if (label === 'Put in bag') {
      if (!book || format === '') problem = 'Please choose a format.';
      else bag = [...bag, { book, format }];
    } else if (label.startsWith('Bag (') || label === 'Back to bag') url = '/bag';
    else if (label === 'Checkout') url = '/address';
    else if (label === 'Continue to payment') {
      const missing = ['Recipient', 'Street', 'Town'].filter((name) => !values[name]);
      if (missing.length || country === '')
        problem = `Still needed: ${[...missing, country ? '' : 'Country'].join(', ')}`;
      else url = '/payment';
    } else if (label === 'Place your order') {
      orders.push({ book: bag[0]?.book.title ?? '', format: bag[0]?.format ?? '', country, fields: { ...values } });
      bag = [];
      url = '/done';
    } else if (label === 'Remove') bag = [];
    else url = '/';
  }

  return {
    orders,
    page,
    click,
    type: (label: string, text: string) => {
      values[label] = text;
    },
    select: (_label: string, option: string) => {
      country = option;
    },
  };
}
