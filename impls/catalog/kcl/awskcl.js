// A record processor on aws-kcl for Node, scripted as the Python ones are (see steps.py).
'use strict';

const fs = require('fs');
const kcl = require('aws-kcl');

let last = null;

function note(observation) {
  if (process.env.WIREPROOF_OBSERVATIONS) {
    fs.appendFileSync(process.env.WIREPROOF_OBSERVATIONS, JSON.stringify(observation) + '\n');
  }
}

function checkpoint(checkpointer, at, done) {
  const told = (error) => { note({ call: 'checkpoint', at, error: error || null }); done(); };
  if (at === null) checkpointer.checkpoint(told); else checkpointer.checkpoint(at, told);
}

function steps(data) {
  try {
    const told = JSON.parse(data.toString('utf8'));
    return told && Array.isArray(told.wireproof) ? told.wireproof : [];
  } catch (error) {
    return [];
  }
}

function obey(left, checkpointer, done) {
  const step = left.shift();
  if (!step) return done();
  const next = () => obey(left, checkpointer, done);
  switch (step.op) {
    case 'checkpoint': return checkpoint(checkpointer, step.at, next);
    case 'print': process.stdout.write(step.text); return next();
    case 'stderr': process.stderr.write(step.text); return next();
    case 'sleep': return void setTimeout(next, step.ms);
    case 'raise': throw new Error('told to raise');
    default: process.stderr.write(`unknown step ${step.op}\n`); return next();
  }
}

kcl({
  initialize(input, done) {
    note({ call: 'initialize', shardId: input.shardId });
    done();
  },
  processRecords(input, done) {
    const records = input.records.map((r) => ({ ...r, data: Buffer.from(r.data, 'base64') }));
    note({
      call: 'processRecords',
      records: records.map((r) => ({
        data_hex: r.data.toString('hex'), partitionKey: r.partitionKey, sequenceNumber: r.sequenceNumber,
      })),
    });
    if (records.length) last = records[records.length - 1].sequenceNumber;
    obey(records.flatMap((r) => steps(r.data)), input.checkpointer, done);
  },
  leaseLost(input, done) {
    note({ call: 'leaseLost' });
    done();
  },
  shardEnded(input, done) {
    note({ call: 'shardEnded' });
    checkpoint(input.checkpointer, null, done);
  },
  shutdownRequested(input, done) {
    note({ call: 'shutdownRequested' });
    done();
  },
}).run();
