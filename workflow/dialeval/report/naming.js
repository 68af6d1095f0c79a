/* How the parts of the dialogue viewer name things. */
"use strict";

const HUMAN = 0; // the place of the human dialogues among the models
const protocolTitles = Object.create(null); // filled from the index

const protocolName = (protocol) => protocolTitles[protocol] ?? protocol;
const atLength = (n) => ` at N\u00a0=\u00a0${n}`;

/** Returns the noun of a case, with a blank, to stand before its id; nothing before an id that begins with it ("case 7"). */
const nounBefore = (noun, id) => (new RegExp(`^${noun}(?!\\p{L})`, "iu").test(id) ? "" : `${noun} `);
